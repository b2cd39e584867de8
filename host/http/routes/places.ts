import { Type } from "typebox";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const LIMIT = 8;
const Query = Type.Object({
  q: Type.String({ minLength: 1, maxLength: 100, description: "the beginning of a town's name" }),
});
const Found = Type.Object({
  places: Type.Array(
    Type.Object({
      name: Type.String(),
      /** ISO 3166-1 alpha-2. */
      country: Type.String(),
      population: Type.Integer(),
      latitude: Type.Number(),
      longitude: Type.Number(),
    }),
  ),
});

/** `/places`: towns by name, from a list that ships with Mantel. */
export function placeRoutes({ places }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/places",
      operationId: "findPlaces",
      scope: "read",
      tag: "Config",
      summary: "Find towns by name, without the internet",
      query: Query,
      answers: jsonAnswer("The largest that match", Found),
      errors: ["invalid"],
      handle: async (_, { query: { q } }) => ({ places: await places.find(q, LIMIT) }),
    }),
  ];
}

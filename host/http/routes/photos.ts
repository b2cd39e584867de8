import { Type } from "typebox";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const Params = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255, description: "a file name from the list" }),
});
const PhotoList = Type.Object({ photos: Type.Array(Type.Object({ name: Type.String() })) });

/** `/photos`: the pictures in the data folder's `photos`, for the photo frame. */
export function photoRoutes({ photos }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/photos",
      operationId: "listPhotos",
      scope: "read",
      tag: "Photos",
      summary: "List the pictures for the photo frame",
      answers: jsonAnswer("Their file names", PhotoList),
      handle: async () => ({ photos: (await photos.list()).map((name) => ({ name })) }),
    }),
    route({
      method: "GET",
      path: "/photos/:name",
      operationId: "getPhoto",
      scope: "read",
      tag: "Photos",
      summary: "Read a picture",
      params: Params,
      answers: { 200: { description: "The unchanged file", type: "image/*" } },
      errors: ["not_found"],
      async handle(ctx, { params }) {
        const { file, bytes, type } = await photos.read(params.name);
        ctx.type = type;
        ctx.length = bytes;
        ctx.body = file.createReadStream({ end: bytes - 1 });
        return undefined;
      },
    }),
  ];
}

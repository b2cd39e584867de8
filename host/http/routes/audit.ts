import { Type } from "typebox";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";

const DEFAULT_LIMIT = 100;

const Query = Type.Object({
  limit: Type.Optional(
    Type.String({ pattern: "^([1-9]\\d{0,2}|1000)$", description: "a number from 1 to 1000" }),
  ),
  before: Type.Optional(
    Type.String({ pattern: "^[\\w-]{1,40}$", description: "the `next` of the previous page" }),
  ),
});
const AuditPage = Type.Object({
  records: Type.Array(
    Type.Object(
      {
        id: Type.String(),
        at: Type.String({ format: "date-time" }),
        /** The name of the token, and its id in `/tokens`. */
        sub: Type.String(),
        jti: Type.String(),
        action: Type.String(),
      },
      { additionalProperties: true },
    ),
  ),
  next: Type.Union([Type.String(), Type.Null()]),
});

/** `/audit`: the log of changes. */
export function auditRoutes({ audit }: HttpDependencies): Route[] {
  return [
    route({
      method: "GET",
      path: "/audit",
      operationId: "listAuditEntries",
      scope: "admin",
      tag: "Audit",
      summary: "Read the log of changes",
      query: Query,
      answers: jsonAnswer("Newest first", AuditPage),
      errors: ["invalid"],
      handle: (_, { query: { limit, before } }) =>
        audit.read({
          limit: Number(limit ?? DEFAULT_LIMIT),
          ...(before === undefined ? {} : { before }),
        }),
    }),
  ];
}

import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonAnswer, type Route, route } from "../route.ts";
import { setSessionCookie } from "../session-cookie.ts";

const Renewal = Type.Object({
  token: Type.Union([Type.String(), Type.Null()], {
    description:
      "the next token, shown only this once; null while the current one is young, and for a session, whose cookie gets it",
  }),
  renewed: Type.Boolean({ description: "true if there is a next token" }),
});

/** `POST /tokens/renew`: keeps the token of a display valid. */
export function tokenRenewalRoutes({ tokens }: HttpDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/tokens/renew",
      operationId: "renewToken",
      scope: "read",
      tag: "Tokens",
      summary: "Renew the token of a display after a third of its lifetime",
      answers: jsonAnswer(
        "The next token. The current one ends when the next is first used",
        Renewal,
      ),
      errors: ["insufficient_scope", "disk_full"],
      async handle(ctx, { principal }) {
        if (!principal.display) {
          throw new MantelError("insufficient_scope", "only the token of a display can be renewed");
        }
        const next = await tokens.renew(principal);
        if (next && principal.session) setSessionCookie(ctx, next);
        const isShown = next !== undefined && !principal.session;
        return { token: isShown ? next.token : null, renewed: next !== undefined };
      },
    }),
  ];
}

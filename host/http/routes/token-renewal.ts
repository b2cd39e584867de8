import { MantelError } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import type { Parts } from "../parts.ts";
import { ok, type Route, route } from "../route.ts";

const Renewal = Type.Object({
  token: Type.Union([Type.String(), Type.Null()], {
    description: "the next token, shown this once; null while the one in use is young",
  }),
});

/** `POST /tokens/renew`: by which the token of a display lives for ever. */
export function tokenRenewalRoutes({ tokens }: Pick<Parts, "tokens">): Route[] {
  return [
    route({
      method: "POST",
      path: "/tokens/renew",
      scope: "read",
      tag: "Tokens",
      summary: "Renew the token of a display once a third of its life is over",
      answers: ok("The next token. The one before ends when the next is first used", Renewal),
      errors: ["insufficient_scope", "disk_full"],
      async handle(_, { principal }) {
        if (!principal.display) {
          throw new MantelError("insufficient_scope", "only the token of a display renews itself");
        }
        return { token: (await tokens.renew(principal)) ?? null };
      },
    }),
  ];
}

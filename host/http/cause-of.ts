import type { Cause } from "@mantel/plugin-sdk/cause";
import type { Principal } from "../auth/tokens.ts";

/** The holder of a token as the cause of what it requests: a display, a person's browser, or another program. */
export function causeOf({ sub, jti, display, session }: Principal): Cause {
  const kind = display ? "display" : session ? "person" : "token";
  return { kind, id: jti, name: sub, at: new Date().toISOString() };
}

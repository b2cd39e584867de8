import type { Cause } from "@mantel/plugin-sdk/cause";
import type { Principal } from "../auth/tokens.ts";

/** The holder of a token as the cause of what it requests: a display, a person's browser, or another program. */
export function causeOf({ sub, jti, display, session }: Principal): Cause {
  if (display) return { kind: "display", id: jti, name: sub };
  return { kind: session ? "person" : "token", id: jti, name: sub };
}

import { type Static, Type } from "typebox";
import { SCOPES } from "./scopes.ts";

/** The default lifetime of a token: a year. */
export const DEFAULT_TTL_SECONDS = 365 * 24 * 60 * 60;
/** A display that is off for longer has to be paired again. */
export const DISPLAY_TTL_SECONDS = 90 * 24 * 60 * 60;
const MAX_TTL_SECONDS = 10 * DEFAULT_TTL_SECONDS;

/** The user-facing name of a token. Lists show it, and revocation uses it. */
export const TokenName = Type.String({
  // Joiners hold emoji and words of some scripts together. Addresses cannot contain "." and ".." as a name.
  pattern:
    "^(?!\\.{1,2}$)(?=.*\\S)(?:[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]|[\\u200C\\u200D]){1,64}$",
  description: "at most 64 printable characters",
});

/** A request for a token. */
export const TokenRequest = Type.Object(
  {
    name: TokenName,
    scope: Type.Array(Type.Enum([...SCOPES]), { minItems: 1, maxItems: SCOPES.length }),
    /** The time until it expires; at most ten years. */
    ttlSeconds: Type.Integer({
      minimum: 1,
      maximum: MAX_TTL_SECONDS,
      default: DEFAULT_TTL_SECONDS,
    }),
  },
  { additionalProperties: false },
);
export type TokenRequest = Static<typeof TokenRequest>;

import { createHash } from "node:crypto";
import {
  type Log,
  MantelError,
  sentence,
  type Static,
  type Storage,
  Type,
} from "@mantel/plugin-sdk";
import type { OAuthOptions, TokenSource } from "../options.ts";
import { answeredWith } from "./fetch-error.ts";
import { guardedRequest } from "./guarded-request.ts";

/** An answer of a token endpoint (RFC 6749, 5.1). Unknown fields are ignored. */
const TokenAnswer = Type.Object({
  access_token: Type.String({ minLength: 1, maxLength: 10_000, pattern: "^[\\x21-\\x7e]+$" }),
  token_type: Type.String({ pattern: "^[Bb]earer$" }),
  expires_in: Type.Optional(Type.Number({ minimum: 0 })),
  refresh_token: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
  scope: Type.Optional(Type.String({ maxLength: 10_000 })),
});
export type TokenAnswer = Static<typeof TokenAnswer>;

/** A request to an OAuth endpoint, as a form. */
export interface OAuthRequest {
  readonly url: string;
  readonly form: Readonly<Record<string, string>>;
  readonly allowPrivate?: boolean | undefined;
  readonly signal: AbortSignal;
}

const REQUEST_MS = 30_000;
/** A token without a lifetime is used for an hour, a usual one. */
const USUAL_SECONDS = 3_600;
/** The time before its end from which a token is renewed, because clocks differ. */
const MARGIN_MS = 60_000;

const SIGN_IN_AGAIN = sentence(
  "sign_in_again",
  "the provider has ended this sign-in: add the calendars again under Settings, Calendars",
);
const ODD_ANSWER = sentence(
  "odd_token_answer",
  "the provider's sign-in gives an answer of another form",
);

/**
 * Sends a form to an OAuth endpoint and reads its JSON.
 * @throws MantelError `invalid` with the error code of RFC 6749, 5.2, as `extras.sentence.values.error`
 */
export async function askOAuth({ url, form, ...rest }: OAuthRequest): Promise<unknown> {
  const { status, body } = await guardedRequest({
    ...rest,
    url,
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams(form).toString(),
    trusts: () => false,
    follow: false,
    limits: { idleMs: REQUEST_MS, totalMs: REQUEST_MS },
    readsRefusal: true,
  });
  const answer = jsonIn(body);
  if (status === 200) return answer;
  const error = (answer as { error?: unknown } | undefined)?.error;
  throw new OAuthError(status, typeof error === "string" ? error.slice(0, 60) : undefined);
}

/** A refusal of an OAuth endpoint. */
export class OAuthError extends MantelError {
  /** The code of RFC 6749, 5.2, or RFC 8628, 3.5; `undefined` if the endpoint gives none. */
  readonly error: string | undefined;

  constructor(status: number, error: string | undefined) {
    const refused = sentence("oauth_refused", "the provider's sign-in refuses ({error})", {
      error: error ?? "",
    });
    super("invalid", error === undefined ? answeredWith(status) : refused);
    this.error = error;
  }
}

/** @throws MantelError `invalid` for an answer that is not a token */
export async function tokenIn(answer: unknown): Promise<TokenAnswer> {
  const { Check } = await import("typebox/value"); // few homes need it
  if (Check(TokenAnswer, answer)) return answer;
  throw new MantelError("invalid", ODD_ANSWER);
}

function jsonIn(body: Uint8Array): unknown {
  if (body.length > 100_000) return undefined;
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return undefined;
  }
}

interface AccessTokensOptions {
  readonly oauth: OAuthOptions;
  readonly allowPrivate?: boolean | undefined;
  readonly storage: Pick<Storage, "get" | "set">;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** A token that was given with the refresh token, a moment ago. */
  readonly first?: TokenAnswer;
  readonly now?: () => number;
}

/**
 * The access tokens of an account (RFC 6749, 6). A provider that gives a new refresh token with each access token, as
 * Microsoft does, has the latest one kept in the storage.
 */
export class AccessTokens implements TokenSource {
  readonly #parts: AccessTokensOptions;
  readonly #key: string;
  #token: { readonly text: string; readonly endsAt: number } | undefined;
  #renewing: Promise<string> | undefined;

  constructor(parts: AccessTokensOptions) {
    this.#parts = parts;
    const { refreshToken, clientId } = parts.oauth;
    const hash = createHash("sha256")
      .update(JSON.stringify([clientId, refreshToken]))
      .digest("hex");
    this.#key = `sign-in-${hash.slice(0, 32)}`;
    if (parts.first) this.#token = this.#timed(parts.first);
  }

  /** The key under which the latest refresh token is stored. */
  get key(): string {
    return this.#key;
  }

  /**
   * A token that is valid for some time yet. Requests at the same time share one renewal.
   * @throws MantelError `invalid` if the user has to sign in again; `deadline_passed`
   */
  async get(): Promise<string> {
    const { now = Date.now } = this.#parts;
    if (this.#token && this.#token.endsAt - MARGIN_MS > now()) return this.#token.text;
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  /** Forgets a token that a server has refused; a newer one stays. */
  drop(refused: string): void {
    if (this.#token?.text === refused) this.#token = undefined;
  }

  async #renew(): Promise<string> {
    const { oauth, storage, log, allowPrivate, signal } = this.#parts;
    const latest = await storage.get(this.#key);
    const before = typeof latest === "string" ? latest : oauth.refreshToken;
    const { clientId, clientSecret } = oauth;
    const form = {
      grant_type: "refresh_token",
      refresh_token: before,
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    };
    const request = { url: oauth.tokenUrl, form, allowPrivate, signal };
    const answer = await tokenIn(await askOAuth(request).catch(asSignIn));
    const { refresh_token: next } = answer;
    this.#token = this.#timed(answer);
    if (next !== undefined && next !== before) {
      await storage.set(this.#key, next).catch((error: unknown) => {
        log.error("could not store the renewed sign-in of a calendar", { error });
      });
    }
    return this.#token.text;
  }

  #timed({ access_token: text, expires_in: seconds = USUAL_SECONDS }: TokenAnswer) {
    const { now = Date.now } = this.#parts;
    return { text, endsAt: now() + seconds * 1000 };
  }
}

/** A grant that was revoked or has expired, or a client that the provider does not know any more. */
function asSignIn(error: unknown): never {
  const codes = ["invalid_grant", "invalid_client", "unauthorized_client", "interaction_required"];
  if (error instanceof OAuthError && codes.includes(error.error ?? "")) throw signInAgain();
  throw error;
}

export function signInAgain(): MantelError {
  return new MantelError("invalid", SIGN_IN_AGAIN, { retryAfterMs: 3_600_000 });
}

export function isSignInAgain(error: unknown): error is MantelError {
  return error instanceof MantelError && error.extras.sentence?.code === SIGN_IN_AGAIN.code;
}

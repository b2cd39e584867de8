import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { onTestEnd } from "../helpers/on-test-end.ts";

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ProviderOptions {
  /** The scope that clients have to ask for. */
  readonly scope: string;
  /** Absent for a public client, which must not send one. */
  readonly clientSecret?: string;
  /** True gives a new refresh token with each access token. */
  readonly rotates?: boolean;
  /** Questions of a device before the user has signed in; the second one is told to be slower. */
  readonly pending?: number;
}

export const CLIENT_ID = "client-of-ann";
/** The client's redirect address, as it is registered. */
const REDIRECT = /^http:\/\/127\.0\.0\.1:\d+\/$/;

/**
 * An OAuth provider on loopback as RFC 6749, 7636 and 8628 describe it, with the addresses of Google and of Microsoft. It
 * refuses unknown, missing and repeated fields. Anything else is answered by `api`, with a valid access token only.
 */
export class OAuthProvider {
  url = "";
  /** Every request to the token endpoint, by its grant type. */
  readonly grants: string[] = [];
  /** The scopes that the user allows; absent means all that are asked for. */
  granted: string | undefined;
  /** The refresh tokens that are valid. */
  readonly refreshTokens = new Set<string>();
  readonly #options: ProviderOptions;
  readonly #accessTokens = new Set<string>();
  /** Codes with the challenge and the address that they are for. */
  readonly #codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  readonly #devices = new Map<string, number>();

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  /** Answers for a browser whose user agrees; gives the address to which it is sent. */
  agree(address: string): string {
    const query = new URL(address).searchParams;
    const fixed = {
      client_id: CLIENT_ID,
      response_type: "code",
      scope: this.#options.scope,
      access_type: "offline",
      prompt: "consent",
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(fixed)) {
      if (query.get(name) !== value) throw new Error(`${name} is ${query.get(name)}`);
    }
    const redirect = query.get("redirect_uri") ?? "";
    const challenge = query.get("code_challenge") ?? "";
    if (!REDIRECT.test(redirect)) throw new Error(`redirect_uri is ${redirect}`);
    if (!/^[\w-]{43}$/.test(challenge)) throw new Error(`code_challenge is ${challenge}`);
    const code = token();
    this.#codes.set(code, { challenge, redirect });
    return `${redirect}?${new URLSearchParams({ state: query.get("state") ?? "", code, scope: this.#options.scope }).toString()}`;
  }

  /** Ends all access tokens, as a provider may at any time. */
  endAccess(): void {
    this.#accessTokens.clear();
  }

  /** Ends the sign-in. */
  revoke(): void {
    this.endAccess();
    this.refreshTokens.clear();
  }

  isAllowed(authorization: string | undefined): boolean {
    const [scheme, given = ""] = authorization?.split(" ") ?? [];
    return scheme === "Bearer" && this.#accessTokens.has(given);
  }

  async reply(incoming: IncomingMessage, body: string): Promise<Reply | undefined> {
    const path = incoming.url ?? "";
    const isToken = path === "/token" || path.endsWith("/oauth2/v2.0/token");
    const isDevice = path.endsWith("/oauth2/v2.0/devicecode");
    if (!isToken && !isDevice) return undefined;
    const isForm = incoming.headers["content-type"] === "application/x-www-form-urlencoded";
    if (incoming.method !== "POST" || !isForm) return refusal("invalid_request");
    const form = new URLSearchParams(body);
    if (new Set(form.keys()).size !== [...form.keys()].length) return refusal("invalid_request");
    return isToken ? this.#token(form) : this.#device(form);
  }

  #device(form: URLSearchParams): Reply {
    if (!hasOnly(form, ["client_id", "scope"])) return refusal("invalid_request");
    if (form.get("client_id") !== CLIENT_ID) return refusal("unauthorized_client");
    if (form.get("scope") !== this.#options.scope) return refusal("invalid_scope");
    const code = token();
    this.#devices.set(code, 0);
    return json({
      device_code: code,
      user_code: "ABCD-EFGH",
      verification_uri: "https://provider.example/device",
      expires_in: 900,
      interval: 0,
      message: "for people",
    });
  }

  #token(form: URLSearchParams): Reply {
    const grant = form.get("grant_type") ?? "";
    this.grants.push(grant);
    const { clientSecret } = this.#options;
    if (form.get("client_id") !== CLIENT_ID) return refusal("invalid_client", 401);
    if (form.get("client_secret") !== (clientSecret ?? null)) return refusal("invalid_client", 401);
    const shared = [
      "grant_type",
      "client_id",
      ...(clientSecret === undefined ? [] : ["client_secret"]),
    ];
    switch (grant) {
      case "authorization_code":
        if (!hasOnly(form, [...shared, "code", "redirect_uri", "code_verifier"])) break;
        return this.#byCode(form);
      case "refresh_token":
        if (!hasOnly(form, [...shared, "refresh_token"])) break;
        return this.#byRefresh(form.get("refresh_token") ?? "");
      case "urn:ietf:params:oauth:grant-type:device_code":
        if (!hasOnly(form, [...shared, "device_code"])) break;
        return this.#byDevice(form.get("device_code") ?? "");
      default:
        return refusal("unsupported_grant_type");
    }
    return refusal("invalid_request");
  }

  #byCode(form: URLSearchParams): Reply {
    const code = form.get("code") ?? "";
    const known = this.#codes.get(code);
    this.#codes.delete(code);
    const verifier = form.get("code_verifier") ?? "";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const isRight = known?.challenge === challenge && known.redirect === form.get("redirect_uri");
    return isRight ? this.#grant(true) : refusal("invalid_grant");
  }

  #byRefresh(given: string): Reply {
    if (!this.refreshTokens.has(given)) return refusal("invalid_grant");
    if (this.#options.rotates) this.refreshTokens.delete(given);
    return this.#grant(this.#options.rotates === true);
  }

  #byDevice(code: string): Reply {
    const asked = this.#devices.get(code);
    if (asked === undefined) return refusal("invalid_grant");
    const { pending = 0 } = this.#options;
    this.#devices.set(code, asked + 1);
    if (asked < pending) return refusal("authorization_pending");
    this.#devices.delete(code);
    return this.#grant(true);
  }

  #grant(withRefresh: boolean): Reply {
    const access = token();
    this.#accessTokens.add(access);
    const refresh = token();
    if (withRefresh) this.refreshTokens.add(refresh);
    return json({
      access_token: access,
      token_type: "Bearer",
      expires_in: 3_599,
      scope: this.granted ?? this.#options.scope,
      ...(withRefresh ? { refresh_token: refresh } : {}),
    });
  }
}

/** Serves a provider until the test ends. `api` answers everything else, for programs that have signed in. */
export async function serveProvider(
  t: TestContext,
  options: ProviderOptions,
  api: (incoming: IncomingMessage, body: string) => Reply,
): Promise<OAuthProvider> {
  const provider = new OAuthProvider(options);
  const server = createServer((incoming, response) => {
    void text(incoming).then(async (body) => {
      const isAllowed = provider.isAllowed(incoming.headers.authorization);
      const own = await provider.reply(incoming, body);
      const {
        status,
        headers,
        body: answer,
      } = own ?? (isAllowed ? api(incoming, body) : { status: 401 });
      response.writeHead(status, headers).end(answer);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestEnd(t, async () => {
    server.closeAllConnections();
    server.close();
  });
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}

const token = () => randomBytes(24).toString("base64url");

function hasOnly(form: URLSearchParams, names: readonly string[]): boolean {
  return [...form.keys()].toSorted().join() === names.toSorted().join();
}

export function json(body: unknown, status = 200): Reply {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(body),
  };
}

function refusal(error: string, status = 400): Reply {
  return json({ error, error_description: "as the RFC says", error_codes: [70016] }, status);
}

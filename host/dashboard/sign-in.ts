import { type Api, ApiError, type SignedIn } from "./api.ts";
import {
  forgetSignedIn,
  hasStoredToken,
  type Refusal,
  rememberedSignedIn,
  rememberSignedIn,
} from "./signed-in.ts";

const TRY_AGAIN_MS = 2_000;
/** Status codes of a host that is restarting, or of a proxy in front of it. */
const PASSING: readonly number[] = [0, 429, 502, 503, 504];

/**
 * The result of signing in at page load: the identity, and the reason if the token of a link was
 * refused.
 */
export interface SignInResult {
  readonly who: SignedIn | undefined;
  readonly fault: ApiError | undefined;
}

/**
 * Signs in with the token of a link, unless the browser is already signed in. An invalid token
 * changes nothing.
 */
export async function signInOnLoad(api: Api, link: string | undefined): Promise<SignInResult> {
  const moved = hasStoredToken() ? await moveStoredToken(api) : undefined;
  const fault = link === undefined ? moved : await faultOf(signIn(api, link));
  const remembered = fault ? undefined : rememberedSignedIn();
  return { fault, who: remembered ?? (await requestSignedIn(api)) };
}

/**
 * Signs in, and retries while the host is unreachable.
 * @throws ApiError; nothing has changed in that case
 */
export async function signIn(
  api: Api,
  token: string,
  options?: { readonly replace: boolean },
): Promise<SignedIn> {
  const who = await untilAnswered(() => api.signIn(token, options));
  rememberSignedIn(who);
  return who;
}

/** Explains why a token was refused, and what the user can do. */
export function refusalOf({ status, code, reason, message }: ApiError): Refusal {
  if (code === "link_used") return { reason: code, name: undefined };
  return { reason, name: undefined, ...(status === 401 ? {} : { detail: message }) };
}

async function moveStoredToken(api: Api): Promise<ApiError | undefined> {
  const { exchangeStoredToken } = await import("./stored-token.ts");
  return exchangeStoredToken((token) => faultOf(signIn(api, token)));
}

async function requestSignedIn(api: Api): Promise<SignedIn | undefined> {
  const who = await untilAnswered(() => api.whoIsSignedIn());
  if (who) rememberSignedIn(who);
  else forgetSignedIn();
  return who;
}

async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError) || !PASSING.includes(error.status)) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs ?? TRY_AGAIN_MS));
    }
  }
}

async function faultOf(work: Promise<unknown>): Promise<ApiError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

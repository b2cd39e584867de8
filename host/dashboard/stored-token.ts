import type { ApiError } from "./api.ts";
import { lasting } from "./page-storage.ts";
import { TOKEN_KEY } from "./signed-in.ts";

/**
 * Exchanges a token that an older version stored in this browser for a session, with `signIn`. Another tab may do the
 * same at the same time.
 */
export async function exchangeStoredToken(
  signIn: (token: string) => Promise<ApiError | undefined>,
): Promise<ApiError | undefined> {
  const token = lasting.get(TOKEN_KEY);
  if (token === null) return undefined;
  const fault = await signIn(token);
  if (!fault || fault.status === 401 || fault.code === "signed_in")
    lasting.set(TOKEN_KEY, undefined);
  return fault;
}

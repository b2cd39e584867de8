import type { WebOptions } from "../options.ts";
import { basicAuth } from "./credentials.ts";
import { type GuardedAnswer, type GuardedRequest, guardedRequest } from "./guarded-request.ts";
import { signInAgain } from "./oauth.ts";

/**
 * A guarded request with the password of an account, or with an access token of its sign-in. A refused token is renewed
 * once, because providers may end one early.
 * @throws MantelError as `guardedRequest`; `invalid` if the user has to sign in again
 */
export async function authorizedRequest(
  account: WebOptions,
  request: Omit<GuardedRequest, "secretHeaders">,
): Promise<GuardedAnswer> {
  const { tokens } = account;
  if (tokens === undefined)
    return guardedRequest({ ...request, secretHeaders: basicAuth(account) });
  const attempt = async () => {
    const token = await tokens.get();
    const secretHeaders = { authorization: `Bearer ${token}` };
    return { token, answer: await guardedRequest({ ...request, secretHeaders }) };
  };
  const { token, answer } = await attempt();
  if (answer.status !== 401) return answer;
  tokens.drop(token);
  const again = await attempt();
  if (again.answer.status === 401) throw signInAgain();
  return again.answer;
}

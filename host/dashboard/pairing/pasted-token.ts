import { type Api, ApiError } from "../api.ts";
import { refusalOf, signIn } from "../sign-in.ts";
import { rememberRefusal } from "../signed-in.ts";

/** Reloads the page after sign-in, so that no state of the previous visit remains. */
export async function startWith(api: Api, pasted: string): Promise<void> {
  try {
    await signIn(api, parsePastedToken(pasted));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    rememberRefusal(refusalOf(error));
  }
  location.reload();
}

/** The token in typed or pasted text: the token itself or the whole link. */
export function parsePastedToken(pasted: string): string {
  const [, fragment] = /#(.*)$/s.exec(pasted.trim()) ?? [];
  return new URLSearchParams(fragment).get("token") ?? pasted.trim();
}

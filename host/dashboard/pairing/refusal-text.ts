import type { ApiError } from "../api.ts";
import { words } from "../i18n/pairing.ts";
import { refusalOf } from "../sign-in.ts";
import type { Refusal } from "../signed-in.ts";

/** Explains why the session ended, and the next step. */
export function refusalText({ reason, name, detail }: Refusal): string {
  const texts = words.value;
  if (detail !== undefined) return detail;
  if (reason === "link_used") return texts.linkUsed;
  if (name === undefined) return texts.tokenInvalid;
  return `${reason === "expired" ? texts.displayExpired(name) : texts.displayRevoked(name)} ${texts.pairAgain}`;
}

/** Explains why signing in with a link failed. */
export function faultText(fault: ApiError): string {
  return refusalText(refusalOf(fault));
}

import type { SignedIn } from "./api.ts";
import { lasting, ofTab } from "./page-storage.ts";

const KEY = "mantel.signed-in";
/** Storage key of the token in versions without the session cookie. */
export const TOKEN_KEY = "mantel.token";
const REFUSED = "mantel.refused";
const SCOPES: readonly string[] = ["read", "control", "edit", "admin"];

/**
 * Remembers the signed-in identity, so that the next visit does not have to ask first. It is not a
 * secret.
 */
export function rememberSignedIn(who: SignedIn): void {
  lasting.set(KEY, JSON.stringify({ ...who, at: Date.now() }));
}

/** The note of the current sign-in, which differs from that of each other; null without one. */
export function visitNote(): string | null {
  return lasting.get(KEY);
}

/** The identity that was last known to be signed in. */
export function rememberedSignedIn(): SignedIn | undefined {
  try {
    const note = JSON.parse(visitNote() ?? "null") as Partial<SignedIn> | null;
    const { name, scope, display } = note ?? {};
    const isWhole = typeof name === "string" && Array.isArray(scope);
    return isWhole ? { name, scope, display: display === true } : undefined;
  } catch {
    return undefined; // Not in our format. The host knows the identity.
  }
}

/** Calls back when another tab signs in or out. */
export function onChangeInOtherTab(changed: () => void): void {
  addEventListener("storage", ({ key }) => {
    if (key === KEY) changed();
  });
}

/** The scopes of an identity, lowest first: each includes the ones before it. */
export function scopesOf({ scope }: SignedIn): readonly string[] {
  return SCOPES.slice(0, 1 + Math.max(...scope.map((each) => SCOPES.indexOf(each))));
}

/** The reason why a session ended. */
export interface Refusal {
  readonly reason: "revoked" | "expired" | "link_used" | undefined;
  /** The name of the display. */
  readonly name: string | undefined;
  /** The message of the host for other reasons. */
  readonly detail?: string;
}

/** Forgets the identity after the user signs out. The next page, for a new screen, deletes the home that it saw. */
export function forgetSignedIn(): void {
  lasting.set(KEY, undefined);
}

/** Forgets the identity after the host refuses it. The next page shows the reason. */
export function forgetRefused(reason: Refusal["reason"]): void {
  const { name, display = false } = rememberedSignedIn() ?? {};
  forgetSignedIn();
  rememberRefusal({ reason, name: display && reason !== undefined ? name : undefined });
}

/** Stores a refusal for the next page load. */
export function rememberRefusal(refusal: Refusal): void {
  ofTab.set(REFUSED, JSON.stringify(refusal));
}

/** The stored refusal, if there is one. Removes it. */
export function takeRefusal(): Refusal | undefined {
  const stored = ofTab.get(REFUSED);
  ofTab.set(REFUSED, undefined);
  return stored === null ? undefined : (JSON.parse(stored) as Refusal);
}

/** True if a version without the session cookie stored a token in this browser. */
export function hasStoredToken(): boolean {
  return lasting.get(TOKEN_KEY) !== null;
}

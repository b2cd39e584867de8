const KEY = "mantel.token";
const REFUSED = "mantel.refused";
const SCOPES: readonly string[] = ["read", "control", "edit", "admin"];

/**
 * Takes a token out of the address (`#token=…`) and keeps it in this browser. The fragment never
 * reaches a server, and is gone from the address and from its history entry afterwards.
 * Returns whether there was one.
 */
export function takeTokenFromAddress(): boolean {
  const token = tokenIn(location.hash);
  if (token === undefined) return false;
  localStorage.setItem(KEY, token);
  history.replaceState(null, "", location.pathname + location.search);
  return true;
}

/** Keeps a token that was typed or pasted: the token alone, or the whole link. */
export function keepToken(pasted: string): void {
  const fragment = pasted.trim().match(/#.*$/s)?.[0];
  localStorage.setItem(KEY, (fragment && tokenIn(fragment)) ?? pasted.trim());
}

export function storedToken(): string | undefined {
  return localStorage.getItem(KEY) ?? undefined;
}

/** What a token says of itself. It decides what is shown and no more: the host checks every request. */
export interface TokenClaims {
  /** The name it was issued under, of a display for example. */
  readonly name: string | undefined;
  readonly scope: readonly string[];
  /** True for a display that was paired. */
  readonly display: boolean;
}

/** A text that is no token says nothing. */
export function claimsOf(token: string): TokenClaims {
  try {
    const [, claims = ""] = token.split(".");
    const base64 = claims.replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const { sub, scope, display } = JSON.parse(new TextDecoder().decode(bytes)) as {
      [claim in "sub" | "scope" | "display"]?: unknown;
    };
    return {
      name: typeof sub === "string" ? sub : undefined,
      scope: Array.isArray(scope) ? scope.filter((each) => typeof each === "string") : [],
      display: display === true,
    };
  } catch {
    return { name: undefined, scope: [], display: false };
  }
}

/** The scopes that a token includes, least first: each permits all that the ones before it do. */
export function scopesOf({ scope }: TokenClaims): readonly string[] {
  return SCOPES.slice(0, 1 + Math.max(...scope.map((each) => SCOPES.indexOf(each))));
}

/** Why a token was let go of. */
export interface Refusal {
  readonly reason: "revoked" | "expired" | undefined;
  /** Of the display that had it. */
  readonly name: string | undefined;
}

/** Lets go of a token that the host refused. */
export function forgetToken(reason: Refusal["reason"]): void {
  const { name, display } = claimsOf(storedToken() ?? "");
  localStorage.removeItem(KEY);
  const refusal = { reason, name: display && reason !== undefined ? name : undefined };
  sessionStorage.setItem(REFUSED, JSON.stringify(refusal));
}

/** The refusal since this was last asked, if there was one. */
export function takeRefusal(): Refusal | undefined {
  const kept = sessionStorage.getItem(REFUSED);
  sessionStorage.removeItem(REFUSED);
  return kept === null ? undefined : (JSON.parse(kept) as Refusal);
}

function tokenIn(fragment: string): string | undefined {
  return new URLSearchParams(fragment.slice(1)).get("token") ?? undefined;
}

const KEY = "mantel.token";
const REFUSED = "mantel.refused";

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

/**
 * Whether a token permits changing the house, as it says itself. It decides what is shown and no more:
 * the host checks every request.
 */
export function mayEdit(token: string): boolean {
  try {
    const [, claims = ""] = token.split(".");
    const base64 = claims.replaceAll("-", "+").replaceAll("_", "/");
    const { scope } = JSON.parse(atob(base64)) as { scope?: unknown };
    return Array.isArray(scope) && (scope.includes("edit") || scope.includes("admin"));
  } catch {
    return false;
  }
}

/** Lets go of a token that the host refused. */
export function forgetToken(): void {
  localStorage.removeItem(KEY);
  sessionStorage.setItem(REFUSED, "yes");
}

/** Whether a token was refused since this was last asked. */
export function takeRefusal(): boolean {
  const refused = sessionStorage.getItem(REFUSED) !== null;
  sessionStorage.removeItem(REFUSED);
  return refused;
}

function tokenIn(fragment: string): string | undefined {
  return new URLSearchParams(fragment.slice(1)).get("token") ?? undefined;
}

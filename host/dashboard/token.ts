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

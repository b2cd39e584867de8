declare global {
  // Passes the token of a link between the two scripts of a page. It is not stored anywhere else.
  var mantelLink: string | undefined;
}

/**
 * Takes the token out of the address (`#token=…`) for the script that signs in. The fragment never
 * reaches a server, and is removed from the address and the history entry.
 */
export function takeLinkFromAddress(): void {
  const token = tokenIn(location.hash);
  if (token === undefined) return;
  globalThis.mantelLink = token;
  history.replaceState(null, "", location.pathname + location.search);
}

/** The token of the link that opened this page. Returns it only once. */
export function takeLinkToken(): string | undefined {
  const token = globalThis.mantelLink;
  globalThis.mantelLink = undefined;
  return token;
}

/** True if the address contains a token. */
export function isLinkInAddress(): boolean {
  return tokenIn(location.hash) !== undefined;
}

function tokenIn(fragment: string): string | undefined {
  return new URLSearchParams(fragment.slice(1)).get("token") ?? undefined;
}

export type Address =
  | { readonly url: URL; readonly fault?: undefined }
  | { readonly url?: undefined; readonly fault: "none" | "unreadable" | "own" };

/**
 * Validates an address. Only web pages are allowed, because `javascript:` and `data:` would run in
 * this page. Mantel itself is refused: with its own origin it could leave the sandbox.
 */
export function addressOf(text: string, ownOrigin: string): Address {
  if (text.trim() === "") return { fault: "none" };
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return { fault: "unreadable" };
  }
  return url.origin === ownOrigin ? { fault: "own" } : { url };
}

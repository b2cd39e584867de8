export type Address =
  | { readonly url: URL; readonly fault?: undefined }
  | { readonly url?: undefined; readonly fault: "none" | "unreadable" | "own" };

/**
 * The address that somebody wrote down. Only web pages are shown, because `javascript:` and `data:`
 * would run here, and never Mantel itself: with its own origin it could leave its sandbox.
 */
export function addressOf(text: string, ownOrigin: string): Address {
  if (text.trim() === "") return { fault: "none" };
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return { fault: "unreadable" };
  }
  return url.origin === ownOrigin ? { fault: "own" } : { url };
}

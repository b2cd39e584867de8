/** Lower case, without accents, so that "kuche" finds "Küche". */
export function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();
}

/**
 * The rank of a text for a folded text that is sought: 0 if it begins with it, 1 if a word of it does, 2 if it
 * contains it, and `undefined` if it does not.
 */
export function fitOf(text: string, sought: string): 0 | 1 | 2 | undefined {
  const at = folded(text).indexOf(sought);
  if (at < 0) return undefined;
  if (at === 0) return 0;
  return folded(text)
    .split(/[^\p{L}\p{N}]+/u)
    .some((word) => word.startsWith(sought))
    ? 1
    : 2;
}

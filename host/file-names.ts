/** A normal form that is equal for names that some file system treats as the same. */
export const foldedPath = (path: string): string => path.normalize("NFKC").toLowerCase();

/** A name for a message: short, on one line, and without invisible characters. */
export function printableName(name: string): string {
  const start = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  const escape = (each: string) => `\\u{${each.codePointAt(0)?.toString(16)}}`;
  return `"${start.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escape)}"`;
}

import { foldedPath, printableName } from "../file-names.ts";

/**
 * A part of a path in a backup: letters, digits, and punctuation without a meaning to file systems and
 * terminals. It neither begins with a dot, as the host's own files do, nor ends with one.
 */
const SEGMENT = /^(?![. ])[\p{L}\p{M}\p{N} _.,;'()[\]{}!#$%&+=@^~-]+(?<![. ])$/u;
/** A file is first written under a longer name, and a file system allows 255 bytes. */
const MAX_SEGMENT_BYTES = 200;
const MAX_PATH_BYTES = 1_000;
const MAX_SEGMENTS = 16;

/** Files that can be created again, belong to this machine, are too large, or are only logs. */
const LEFT_OUT =
  /^(cache|packages|before-restore-[^/]*)(\/|$)|(^|\/)\.|^audit\.|\.(damaged|before-version)-[^/]*(\/|$)|\.last-good$|\.sqlite(-\w+)?$/;
/** Files that decide on access to the host, and on the code and the permissions of plugins. */
const CREDENTIALS: readonly string[] = [
  "keys.json",
  "tokens.jsonl",
  "token-use.json",
  "calendar-feeds.json",
  "consents.json",
  "packages.json",
];
/** Files with passwords and keys, and those that may contain some: plugins store secrets such as pairings. */
const SECRET = /^((secrets|config\.pending)\.json$|(tls|plugins)(\/|$))/;

/** True for a path in the data folder that no backup contains. */
export const isExcluded = (path: string): boolean => LEFT_OUT.test(foldedPath(path));

/** True for a file that decides on access or the permissions of plugins: tokens, signing keys, consents. */
export const isCredential = (path: string): boolean => CREDENTIALS.includes(foldedPath(path));

/** True for a file that a backup contains only sealed by a passphrase; credentials are among them. */
export const isSecret = (path: string): boolean =>
  isCredential(path) || SECRET.test(foldedPath(path));

/**
 * The first fault of the names in a backup, or `undefined`. Names are compared as on a
 * case-insensitive file system.
 */
export function findNameFault(paths: Iterable<string>): string | undefined {
  const files = new Set<string>();
  const folders = new Set<string>();
  for (const path of paths) {
    const name = printableName(path);
    if (!isNameAllowed(path)) return `the file name ${name} is not allowed`;
    if (isExcluded(path)) return `the file name ${name} belongs to the host itself`;
    const key = foldedPath(path);
    if (files.has(key)) return `the file name ${name} is duplicate`;
    files.add(key);
    for (const folder of foldersOf(key)) folders.add(folder);
  }
  const both = [...files].find((file) => folders.has(file));
  return both === undefined ? undefined : `${printableName(both)} is both a file and a folder`;
}

/** True for a name that a backup can contain. */
export function isNameAllowed(path: string): boolean {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return false;
  const segments = path.split("/");
  return (
    segments.length <= MAX_SEGMENTS &&
    segments.every((each) => SEGMENT.test(each) && Buffer.byteLength(each) <= MAX_SEGMENT_BYTES)
  );
}

/** The folders in a path, outermost first: of `a/b/c`, `a` and `a/b`. */
function foldersOf(path: string): string[] {
  const segments = path.split("/");
  return segments.slice(1).map((_, at) => segments.slice(0, at + 1).join("/"));
}

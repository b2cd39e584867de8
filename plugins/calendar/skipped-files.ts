/** A file of a calendar that is not shown. */
export interface SkippedFile {
  readonly name: string;
  readonly reason: string;
}

const MAX_NAMED = 3;
const NAME_LENGTH = 100;

/** In words, which files are not shown, and why. */
export function describeSkipped(files: readonly SkippedFile[]): string {
  const names = firstNames(files.map(({ name }) => name));
  return `${countSkipped(files)}: ${names}; the first because: ${files[0]?.reason}`;
}

/** Some of many names, and how many more there are. */
export function firstNames(names: readonly string[]): string {
  const some = names.slice(0, MAX_NAMED).map((name) => name.slice(0, NAME_LENGTH));
  const others = names.length - some.length;
  return [...some, ...(others > 0 ? [`${others} more`] : [])].join(", ");
}

/** Only the number, for a calendar whose file names may be private. */
export function countSkipped({ length }: readonly SkippedFile[]): string {
  return `${length} ${length === 1 ? "file was" : "files were"} left out`;
}

/** A file of a calendar that is not shown. */
export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

const MAX_NAMED = 3;
const NAME_LENGTH = 100;

/** In words, which files are not shown, and why. */
export function tellLeftOut(files: readonly LeftOut[]): string {
  const names = firstOf(files.map(({ name }) => name));
  return `${countLeftOut(files)}: ${names}; the first because: ${files[0]?.reason}`;
}

/** Some of many names, and how many more there are. */
export function firstOf(names: readonly string[]): string {
  const some = names.slice(0, MAX_NAMED).map((name) => name.slice(0, NAME_LENGTH));
  const others = names.length - some.length;
  return [...some, ...(others > 0 ? [`${others} more`] : [])].join(", ");
}

/** Only the number, for a calendar whose file names may be private. */
export function countLeftOut({ length }: readonly LeftOut[]): string {
  return `${length} ${length === 1 ? "file was" : "files were"} left out`;
}

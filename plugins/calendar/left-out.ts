/** A file of a calendar that is not shown. */
export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

const MAX_NAMED = 3;
const NAME_LENGTH = 100;

/** In words, which files are not shown, and why. */
export function tellLeftOut(files: readonly LeftOut[]): string {
  const names = files.slice(0, MAX_NAMED).map(({ name }) => name.slice(0, NAME_LENGTH));
  const others = files.length - names.length;
  const named = [...names, ...(others > 0 ? [`${others} more`] : [])].join(", ");
  return `${countLeftOut(files)}: ${named}; the first because: ${files[0]?.reason}`;
}

/** Only how many, for a calendar whose names of files may say what is in them. */
export function countLeftOut({ length }: readonly LeftOut[]): string {
  return `${length} ${length === 1 ? "file was" : "files were"} left out`;
}

import { inEnglish, type Sentence, sentence } from "@mantel/plugin-sdk";

/** A file of a calendar that is not shown. */
export interface SkippedFile {
  readonly name: string;
  readonly reason: Sentence;
}

/** Something to say of a calendar, in English and in parts that can be translated. */
export interface Remark {
  readonly text: string;
  readonly sentences: readonly Sentence[];
}

const MAX_NAMED = 3;
const NAME_LENGTH = 100;

export function remark(told: Sentence): Remark {
  return { text: inEnglish(told), sentences: [told] };
}

/** A number of things, with the reason for the first of them. */
export function remarkWithReason(count: Sentence, reason: Sentence | undefined): Remark {
  if (!reason) return remark(count);
  const text = `${inEnglish(count)}; the first because: ${inEnglish(reason)}`;
  return { text, sentences: [count, reason] };
}

/** Names the files that are not shown, with the reasons. */
export function describeSkipped(files: readonly SkippedFile[]): Remark {
  const names = firstNames(files.map(({ name }) => name));
  const count =
    files.length === 1
      ? sentence("file_left_out", "1 file was left out: {names}", { names })
      : sentence("files_left_out", "{count} files were left out: {names}", {
          count: files.length,
          names,
        });
  return remarkWithReason(count, files[0]?.reason);
}

/** Some of many names, and how many more there are. */
export function firstNames(names: readonly string[]): string {
  const some = names.slice(0, MAX_NAMED).map((name) => name.slice(0, NAME_LENGTH));
  const others = names.length - some.length;
  return [...some, ...(others > 0 ? [`+${others}`] : [])].join(", ");
}

/** Only the number, for a calendar whose file names may be private. */
export function countSkipped({ length }: readonly SkippedFile[]): Remark {
  return remark(
    length === 1
      ? sentence("one_file_left_out", "1 file was left out")
      : sentence("some_files_left_out", "{count} files were left out", { count: length }),
  );
}

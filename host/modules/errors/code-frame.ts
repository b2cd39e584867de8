import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { relative } from "node:path";
import { type CodeLocation, FRAME } from "@mantel/plugin-sdk/errors";

const CONTEXT_LINES = 2;
const LARGEST_SOURCE = 2 * 2 ** 20;

/** Gives the text of a source file, by its absolute path; `undefined` for a file that is not known. */
export type SourceOf = (file: string) => string | undefined;

/** A few numbered lines around a place, with a caret below it. Lines and columns count from 1. */
export function codeFrame(
  source: string,
  { line, column }: { readonly line: number; readonly column: number },
): string {
  const lines = source.split("\n");
  const first = Math.max(1, line - CONTEXT_LINES);
  const last = Math.min(lines.length, line + CONTEXT_LINES);
  const width = String(last).length;
  const frame: string[] = [];
  for (let number = first; number <= last; number++) {
    const mark = number === line ? ">" : " ";
    const text = lines[number - 1] ?? "";
    frame.push(`${mark} ${String(number).padStart(width)} | ${text}`);
    const before = Math.min(Math.max(0, column - 1), text.length);
    if (number === line) frame.push(`  ${" ".repeat(width)} | ${" ".repeat(before)}^`);
  }
  return frame.join("\n");
}

/**
 * The end of a stack frame. Lines without it are skipped first: on a hostile line the full pattern takes quadratic
 * time.
 */
const FRAME_END = /:\d+:\d+\)?$/;

/**
 * The first location in a source-mapped stack that is in the author's folder. The stack is untrusted text. `sourceOf`
 * gives the sources that the code was built from; files that it does not know are read from the disk.
 */
export function locationInStack(
  stack: string,
  folder: string,
  sourceOf: SourceOf = () => undefined,
): CodeLocation | undefined {
  for (const text of stack.split("\n")) {
    const frame = text.trim();
    const [, url, line, column] = (FRAME_END.test(frame) && FRAME.exec(frame)) || [];
    if (url === undefined) continue;
    const file = url.replace(/^file:\/\//, "");
    if (!file.startsWith(`${folder}/`) || file.includes("/node_modules/")) continue;
    const source =
      sourceOf(file) ?? (isSourceIn(folder, file) ? readFileSync(file, "utf8") : undefined);
    if (source === undefined) continue;
    const place = { line: Number(line), column: Number(column) };
    const shown = codeFrame(source, place);
    return { file: relative(folder, file), ...place, frame: shown };
  }
  return undefined;
}

/** False for paths that leave the folder through links or `..`, and for files whose reading would not end. */
function isSourceIn(folder: string, file: string): boolean {
  try {
    const path = realpathSync(file);
    const stat = statSync(path);
    return (
      path.startsWith(`${realpathSync(folder)}/`) && stat.isFile() && stat.size <= LARGEST_SOURCE
    );
  } catch {
    return false; // ENOENT, or not a valid path
  }
}

/** The first place where a source file has this text, or its first line; `undefined` without a file. */
export function locationOfText(
  file: string,
  text: string,
  folder: string,
): CodeLocation | undefined {
  if (!existsSync(file)) return undefined;
  const source = readFileSync(file, "utf8");
  const lines = source.split("\n");
  const found = lines.findIndex((line) => line.includes(text));
  const place = { line: Math.max(0, found) + 1, column: (lines[found]?.indexOf(text) ?? 0) + 1 };
  return { file: relative(folder, file), ...place, frame: codeFrame(source, place) };
}

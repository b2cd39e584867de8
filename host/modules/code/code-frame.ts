import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { type CodeLocation, FRAME, MantelError } from "@mantel/plugin-sdk/errors";
import type { BuildFailure, Message } from "esbuild";

const CONTEXT_LINES = 2;

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
    frame.push(`${mark} ${String(number).padStart(width)} | ${lines[number - 1] ?? ""}`);
    if (number === line) frame.push(`  ${" ".repeat(width)} | ${" ".repeat(column - 1)}^`);
  }
  return frame.join("\n");
}

/** What esbuild rejected, as the failure a reload answers with; the place is in the author's source. */
export function toReloadFailure(error: unknown, folder: string): MantelError {
  const message = (error as Partial<BuildFailure> | undefined)?.errors?.[0];
  if (!message) {
    return new MantelError("reload_failed", `the build failed: ${firstLine(error)}`, {
      cause: error,
    });
  }
  const location = locationOf(message, folder);
  return new MantelError("reload_failed", sentenceOf(message), {
    cause: error,
    ...(location ? { location } : {}),
  });
}

function sentenceOf({ text, notes }: Message): string {
  const hint = notes[0]?.text;
  return hint === undefined || hint === "" ? text : `${text} (${hint.split("\n")[0]})`;
}

function locationOf({ location }: Message, folder: string): CodeLocation | undefined {
  if (!location) return undefined;
  const file = isAbsolute(location.file) ? location.file : resolve(location.file);
  const source = existsSync(file) ? readFileSync(file, "utf8") : location.lineText;
  const column = location.column + 1;
  return {
    file: relative(folder, file),
    line: location.line,
    column,
    frame: codeFrame(source, { line: location.line, column }),
  };
}

/** The first place of a source-mapped stack that lies in the author's folder. */
export function locationInStack(stack: string, folder: string): CodeLocation | undefined {
  for (const text of stack.split("\n")) {
    const [, url, line, column] = FRAME.exec(text.trim()) ?? [];
    if (url === undefined) continue;
    const file = url.replace(/^file:\/\//, "");
    if (!file.startsWith(`${folder}/`) || file.includes("/node_modules/") || !existsSync(file))
      continue;
    const place = { line: Number(line), column: Number(column) };
    const frame = codeFrame(readFileSync(file, "utf8"), place);
    return { file: relative(folder, file), ...place, frame };
  }
  return undefined;
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

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}

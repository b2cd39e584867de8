import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { type CodeLocation, MantelError } from "@mantel/plugin-sdk/errors";
import type { BuildFailure, Message } from "esbuild";
import { codeFrame } from "../errors/code-frame.ts";
import { SENTENCES } from "./compiler-sentences.ts";

/** Turns an esbuild error into the `reload_failed` error of the reload; the location is in the author's source. */
export function toReloadFailure(error: unknown, folder: string): MantelError {
  const message = (error as Partial<BuildFailure> | undefined)?.errors?.[0];
  if (!message) {
    return new MantelError("reload_failed", `the build failed: ${firstLine(error)}`, {
      cause: error,
    });
  }
  const location = locationOf(message, folder);
  return new MantelError("reload_failed", compilerSentence(message, folder), {
    cause: error,
    ...(location ? { location } : {}),
  });
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

/** The sentence for an error of the compiler. Errors of our own checks are sentences already. */
export function compilerSentence({ text, pluginName, location }: Message, folder: string): string {
  for (const [pattern, sentence] of SENTENCES) {
    const found = pattern.exec(text);
    if (found) return sentence([...found.slice(1), location?.suggestion ?? ""], folder);
  }
  return pluginName === "" ? `the code cannot be compiled: ${text.replace(/:$/, "")}` : text;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}

import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { isAbsolute, relative, resolve } from "node:path";
import { type CodeLocation, MantelError } from "@mantel/plugin-sdk/errors";
import type { BuildFailure, Message } from "esbuild";
import { codeFrame } from "../errors/code-frame.ts";

const BUILTIN = new Set(builtinModules);

type Sentence = (words: readonly string[], folder: string) => string;

/** The compiler's texts, and the sentences for authors; `words` are the groups of the pattern. */
const SENTENCES: readonly (readonly [RegExp, Sentence])[] = [
  [
    /^Could not resolve "(\.{0,2}\/[^"]*)"/,
    ([path]) => `cannot find ${path}; check the path and the name of the file`,
  ],
  [/^Could not resolve "([^"]+)"/, ([name = ""]) => missingPackage(name)],
  [
    /^No matching export in "([^"]+)" for import "default"/,
    ([file = ""], folder) =>
      `${nameIn(folder, file)} has no default export; import one of its names in braces`,
  ],
  [
    /^No matching export in "([^"]+)" for import "([^"]+)"/,
    ([file = "", name], folder) =>
      `${nameIn(folder, file)} does not export ${name}; check the name, or export it there`,
  ],
  [
    /^The symbol "([^"]+)" has already been declared/,
    ([name]) => `${name} is declared twice; rename one of the two`,
  ],
  [
    /^Cannot assign to "([^"]+)" because it is a constant/,
    ([name]) => `${name} is a constant; declare it with "let" to assign to it`,
  ],
  [
    /^"await" can only be used inside an "async" function/,
    () => 'await is used outside an async function; write "async" before the function',
  ],
  [
    /^No loader is configured for "([^"]+)" files/,
    ([ending]) =>
      `files with the ending ${ending} cannot be imported; import code, JSON or WebAssembly, and in a widget also images, fonts and style sheets`,
  ],
  [
    /^(?:Unexpected|Expected .+ but found) end of file/,
    () => "syntax error: the file ends too early; close the last bracket or quote",
  ],
  [
    /^Unterminated (string literal|regular expression)/,
    ([what]) => `syntax error: the ${what} is not closed`,
  ],
  [
    /^Expected (.+) but found (.+)$/,
    ([wanted, found]) => `syntax error: expected ${wanted}, found ${found}`,
  ],
  [/^Unexpected (.+)$/, ([found]) => `syntax error: unexpected ${found}`],
  [/^Syntax error (.+)$/, ([found]) => `syntax error: unexpected ${found}`],
];

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
export function compilerSentence({ text, pluginName }: Message, folder: string): string {
  for (const [pattern, sentence] of SENTENCES) {
    const found = pattern.exec(text);
    if (found) return sentence(found.slice(1), folder);
  }
  return pluginName === "" ? `the code cannot be compiled: ${text.replace(/:$/, "")}` : text;
}

function missingPackage(name: string): string {
  if (BUILTIN.has(name)) {
    return `a widget runs in the browser, which has no ${name}: use it in the plugin's server side`;
  }
  return `the package ${name} is not installed; name it under "dependencies" in the plugin's package.json`;
}

/** The compiler's paths are relative to the working folder. */
function nameIn(folder: string, file: string): string {
  return relative(folder, resolve(file));
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}

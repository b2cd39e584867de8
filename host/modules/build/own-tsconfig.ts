import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const LARGEST = 64 * 2 ** 10;
/** A text, which is kept, or a comment. */
const COMMENT = /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[^]*?\*\//g;
const TRAILING_COMMA = /("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g;

/** The compiler options that change how a widget is compiled. */
const COMPILED = [
  "experimentalDecorators",
  "jsx",
  "jsxFactory",
  "jsxFragmentFactory",
  "jsxImportSource",
  "useDefineForClassFields",
] as const;

/** The settings of a plugin's own `tsconfig.json` for its imports and its code. */
export interface OwnTsconfig {
  /** The absolute paths that an import may mean, in order; empty without an alias for it. */
  readonly targetsOf: (specifier: string) => readonly string[];
  readonly compilerOptions: Readonly<Record<string, unknown>>;
  /** The file, if there is one. */
  readonly file: string | undefined;
}

/**
 * Reads the `tsconfig.json` in a plugin's own folder. `extends` is not followed and files of other folders are not
 * read: an error message about them would quote files that the plugin may not read.
 */
export function readOwnTsconfig(folder: string): OwnTsconfig {
  const file = join(folder, "tsconfig.json");
  if (!existsSync(file)) return { targetsOf: () => [], compilerOptions: {}, file: undefined };
  const options = optionsIn(file);
  const base = resolve(folder, typeof options["baseUrl"] === "string" ? options["baseUrl"] : ".");
  const aliases = Object.entries(isRecord(options["paths"]) ? options["paths"] : {});
  const targetsOf = (specifier: string): string[] =>
    aliases.flatMap(([pattern, targets]) => {
      const matched = matchedPart(pattern, specifier);
      if (matched === undefined || !Array.isArray(targets)) return [];
      const texts = targets.filter((each) => typeof each === "string");
      return texts.map((target) =>
        resolve(
          base,
          target.replace("*", () => matched),
        ),
      );
    });
  const kept = COMPILED.filter((name) => options[name] !== undefined);
  const compilerOptions = Object.fromEntries(kept.map((name) => [name, options[name]]));
  return { targetsOf, compilerOptions, file };
}

/** The compiler options; none of a file that is a link, too large or not JSON with comments. */
function optionsIn(file: string): Readonly<Record<string, unknown>> {
  const stat = lstatSync(file);
  if (!stat.isFile() || stat.size > LARGEST) return {};
  const keepText = (_: string, text: string | undefined) => text ?? "";
  const json = readFileSync(file, "utf8").replace(COMMENT, keepText);
  try {
    const content: unknown = JSON.parse(json.replace(TRAILING_COMMA, keepText));
    const options = isRecord(content) ? content["compilerOptions"] : undefined;
    return isRecord(options) ? options : {};
  } catch {
    return {}; // the author's editor shows the fault; imports by an alias fail with their line
  }
}

/** The text for `*` in a pattern such as `~/*`, or "" for a pattern without one; `undefined` if it does not match. */
function matchedPart(pattern: string, specifier: string): string | undefined {
  const [start = "", end] = pattern.split("*");
  if (end === undefined) return pattern === specifier ? "" : undefined;
  const isLongEnough = specifier.length >= start.length + end.length;
  return isLongEnough && specifier.startsWith(start) && specifier.endsWith(end)
    ? specifier.slice(start.length, specifier.length - end.length)
    : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

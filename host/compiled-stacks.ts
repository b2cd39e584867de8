// Stacks of the compiled host name its sources. Node does this itself only for files that its own loader has read, which
// uses no compiled code, and it reads the source map at each start.
import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, resolve } from "node:path";

/** A stack frame of V8, whose text is a line of a stack; Node's types omit `toString`. */
type Frame = NodeJS.CallSite & { toString(): string };

/**
 * Lets all stacks name the sources of `file`. Its source map, `<file>.map`, is read for the first stack. If it is gone by
 * then, because a host of newer sources was started, stacks name `file`.
 */
export function mapStacks(file: string): void {
  let map: SourceMap | undefined;
  const position = (line: number, column: number): string | undefined => {
    map ??= readMap(`${file}.map`);
    const entry = map?.findEntry(line - 1, column - 1);
    if (!entry || !("originalSource" in entry)) return undefined;
    const source = resolve(dirname(file), entry.originalSource);
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  };
  const frame = (site: Frame): string => {
    const text = site.toString();
    const [line, column] = [site.getLineNumber(), site.getColumnNumber()];
    if (site.getFileName() !== file || line === null || column === null) return text;
    return text.replace(`${file}:${line}:${column}`, (built) => position(line, column) ?? built);
  };
  Error.prepareStackTrace = (error, sites) =>
    [
      Error.prototype.toString.call(error),
      ...sites.map((site) => `    at ${frame(site as Frame)}`),
    ].join("\n");
}

function readMap(path: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, "utf8")) as SourceMapPayload);
  } catch {
    return undefined; // what was to be reported matters more than where it happened
  }
}

import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SourceOf } from "../errors/code-frame.ts";
import { hashOf } from "./code-hash.ts";

/** The names of files with the sources of a build. */
export const SOURCES_FILE = /^[0-9a-f]{16}\.sources\.json$/;

/**
 * Stores the sources of a build in `folder` and returns the file. Errors of running code show the lines it was built
 * from, also after the author has changed them.
 */
export async function storeSources(
  folder: string,
  texts: ReadonlyMap<string, string>,
): Promise<string> {
  const json = JSON.stringify(Object.fromEntries(texts));
  const file = join(folder, `${hashOf(json)}.sources.json`);
  await writeFile(file, json);
  return file;
}

/** The sources that a build was made from. Reads the file at the first question; without it, nothing is known. */
export function sourcesOf({ sources }: { readonly sources?: string | undefined }): SourceOf {
  let texts: ReadonlyMap<string, string> | undefined;
  return (file) => (texts ??= readTexts(sources)).get(file);
}

function readTexts(file: string | undefined): ReadonlyMap<string, string> {
  if (file === undefined) return new Map();
  try {
    return new Map(
      Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, string>),
    );
  } catch {
    return new Map(); // the cache was deleted
  }
}

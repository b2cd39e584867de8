import { rename } from "node:fs/promises";
import { readText, writeFully } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostLog } from "../log.ts";

/** The path of the copy of a file of JSON lines; every line is added to both. */
export const copyPathOf = (path: string): string => `${path}.last-good`;

/**
 * Restores missing lines of a file of JSON lines from its copy: a lost revocation would make
 * a token valid again. The damaged file is set aside. The order of lines does not matter.
 */
export async function restoreLines(
  path: string,
  isWhole: (line: string) => boolean,
  log: HostLog,
): Promise<void> {
  // The copy is read first: another process adds a line to the file before the copy.
  const copied = (await linesOf(copyPathOf(path))).filter(isWhole);
  const found = await linesOf(path);
  const wholeLines = found.filter(isWhole);
  const all = [...new Set([...copied, ...wholeLines])];
  const text = all.map((line) => `${line}\n`).join("");
  if (all.length > wholeLines.length || found.length > wholeLines.length) {
    const keptAs = `${path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
    await rename(path, keptAs).catch(unlessAbsent);
    await writeFully(path, text);
    const [damaged, restored] = [found.length - wholeLines.length, all.length - wholeLines.length];
    log.error("a damaged register was set aside and restored", { keptAs, damaged, restored });
  }
  if (all.length > copied.length) await writeFully(copyPathOf(path), text);
}

/** The lines of a file; none for a folder in its place. */
async function linesOf(path: string): Promise<string[]> {
  try {
    return ((await readText(path)) ?? "").split("\n").filter(Boolean);
  } catch (error) {
    if (error instanceof MantelError) return [""];
    throw error;
  }
}

function unlessAbsent(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}

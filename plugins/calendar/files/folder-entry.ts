import type { Stats } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { MantelError, sentence } from "@mantel/plugin-sdk";
import { type CalendarFile, type ParsedFiles, parseFile, parseFiles } from "../parsed-file.ts";
import { MAX_BYTES } from "../web/guarded-request.ts";

const EXTENSIONS = new Set([".ics", ".vcf"]);
const MAX_FILES = 50_000;
const NOT_A_FILE = sentence("not_a_file", "this is not a regular file: links are not followed");

export function isCalendarFile(path: string): boolean {
  return EXTENSIONS.has(extname(path).toLowerCase()) && !basename(path).startsWith(".");
}

/**
 * Reads a file, or all files of a folder for programs that write one file per event. A broken file
 * in a folder does not affect the others. `undefined` if it does not exist.
 * @throws MantelError `invalid` for too much content and for links
 */
export async function readEntry(path: string): Promise<FolderEntry | undefined> {
  const stats = await find(path);
  if (!stats) return undefined;
  if (stats.isDirectory()) return readFolder(path, stats);
  const bytes = isCalendarFile(path) ? await readOne(path, stats, MAX_BYTES) : undefined;
  return bytes && { files: [await parseFile(bytes)], leftOut: [], changedAt: stats.mtime };
}

/** The content of a file or folder, and the time of its last change. */
interface FolderEntry extends ParsedFiles {
  readonly changedAt: Date;
}

/** `undefined` if the file no longer exists. */
async function readOne(path: string, stats: Stats, limit: number): Promise<Buffer | undefined> {
  if (!stats.isFile()) throw new MantelError("invalid", NOT_A_FILE);
  if (stats.size > limit) {
    const values = { most: MAX_BYTES / 1e6 };
    throw new MantelError(
      "invalid",
      sentence(
        "file_too_large",
        "there are more than {most} MB: at most that much is read of one calendar",
        values,
      ),
    );
  }
  return unlessGone(readFile(path));
}

async function readFolder(path: string, stats: Stats): Promise<FolderEntry | undefined> {
  const { files, changedAt } = await filesIn(path);
  if (files.length === 0) return undefined;
  const parsed = await parseFiles(files);
  const lastMs = Math.max(changedAt, stats.mtimeMs);
  return { ...parsed, changedAt: new Date(lastMs) };
}

async function filesIn(path: string): Promise<{ files: CalendarFile[]; changedAt: number }> {
  const names = (await unlessGone(readdir(path)))?.filter(isCalendarFile).toSorted() ?? [];
  if (names.length > MAX_FILES) {
    const values = { count: names.length, most: MAX_FILES };
    throw new MantelError(
      "invalid",
      sentence("too_many_files", "there are {count} files: at most {most} are read", values),
    );
  }
  const files: CalendarFile[] = [];
  let left = MAX_BYTES;
  let changedAt = 0;
  for (const name of names) {
    const stats = await find(join(path, name));
    if (!stats?.isFile()) continue; // a link, or no longer there
    const bytes = await readOne(join(path, name), stats, left);
    if (!bytes) continue;
    left -= bytes.length;
    files.push({ name, bytes });
    changedAt = Math.max(changedAt, stats.mtimeMs);
  }
  return { files, changedAt };
}

const find = (path: string) => unlessGone(lstat(path));

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

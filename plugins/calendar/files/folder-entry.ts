import type { Stats } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk";
import { refuseBroken } from "../ics/parse.ts";
import { isVcard } from "../ics/vcard.ts";
import { countLeftOut, type LeftOut } from "../left-out.ts";
import { MAX_BYTES } from "../web/guarded-request.ts";

const EXTENSIONS = new Set([".ics", ".vcf"]);
const MAX_FILES = 50_000;
const LINE_END = Buffer.from("\r\n");
const MARK = Buffer.from("\ufeff");

export function isCalendarFile(path: string): boolean {
  return EXTENSIONS.has(extname(path).toLowerCase()) && !basename(path).startsWith(".");
}

/** The content of a calendar, and the files that are not in it. */
export interface Entry {
  /** Each is a calendar, or contacts. */
  readonly texts: readonly Uint8Array[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * What a file holds, or all files of a folder together, as programs keep them that write a file for
 * each event. Of these, one that is broken takes nothing from the others. `undefined` when there is none.
 *
 * @throws MantelError `invalid` for what is too large, for links, and for folders of broken files alone
 */
export async function readEntry(path: string): Promise<Entry | undefined> {
  const stats = await find(path);
  if (!stats) return undefined;
  if (stats.isDirectory()) return readFolder(path);
  const bytes = isCalendarFile(path) ? await readOne(path, stats, MAX_BYTES) : undefined;
  return bytes && { texts: [bytes], leftOut: [] };
}

/** `undefined` for a file that is gone by now. */
async function readOne(path: string, stats: Stats, limit: number): Promise<Buffer | undefined> {
  if (!stats.isFile()) throw new MantelError("invalid", "this is no file: links are not followed");
  if (stats.size > limit) {
    throw new MantelError(
      "invalid",
      `there are more than ${MAX_BYTES / 1e6} MB: at most that much is read of one calendar`,
    );
  }
  return unlessGone(readFile(path));
}

async function readFolder(path: string): Promise<Entry | undefined> {
  const files = await filesIn(path);
  if (files.length === 0) return undefined;
  const calendars: Uint8Array[] = [];
  const contacts: Uint8Array[] = [];
  const leftOut: LeftOut[] = [];
  for (const { name, bytes } of files) {
    const reason = faultOf(bytes);
    const kind = isVcard(bytes) ? contacts : calendars;
    if (reason === undefined) kind.push(withoutMark(bytes), LINE_END);
    else leftOut.push({ name, reason });
  }
  const texts = [calendars, contacts].filter(({ length }) => length > 0);
  if (texts.length > 0) return { texts: texts.map((parts) => Buffer.concat(parts)), leftOut };
  const text = `${countLeftOut(leftOut)}; the first because: ${leftOut[0]?.reason}`;
  throw new MantelError("invalid", text);
}

interface File {
  readonly name: string;
  readonly bytes: Buffer;
}

async function filesIn(path: string): Promise<File[]> {
  const names = (await unlessGone(readdir(path)))?.filter(isCalendarFile).toSorted() ?? [];
  if (names.length > MAX_FILES) {
    throw new MantelError(
      "invalid",
      `there are ${names.length} files: at most ${MAX_FILES} are read`,
    );
  }
  const files: File[] = [];
  let left = MAX_BYTES;
  for (const name of names) {
    const stats = await find(join(path, name));
    if (!stats?.isFile()) continue; // a link, or gone
    const bytes = await readOne(join(path, name), stats, left);
    if (!bytes) continue;
    left -= bytes.length;
    files.push({ name, bytes });
  }
  return files;
}

/** Why a file cannot be read together with others. */
function faultOf(bytes: Uint8Array): string | undefined {
  try {
    if (!isVcard(bytes)) refuseBroken(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof MantelError) return error.message;
    throw error;
  }
}

/** A byte-order mark means something only where a text begins. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(MARK) ? bytes.subarray(3) : bytes;
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

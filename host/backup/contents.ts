import { constants } from "node:fs";
import { open, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { foldedPath } from "../file-names.ts";
import type { FileSet } from "./archive.ts";
import { assertDocuments } from "./documents.ts";
import { MAX_FILE_BYTES, MAX_FILES, MAX_HOME_BYTES, mebibytes } from "./limits.ts";
import { isExcluded, isNameAllowed, isSecret } from "./paths.ts";

/** The part of a data folder that belongs into a backup. */
export interface BackupContents {
  readonly files: FileSet;
  readonly secrets: FileSet;
  /** Files whose names a backup cannot contain. */
  readonly leftOut: readonly string[];
}

/** A file with which a folder is left out of backups, such as one with large files of a plugin. */
const LEAVES_OUT = ".nobackup";

/** Paths of files in a data folder that belong into a backup, sorted. Does not follow links. */
export async function pathsToBackUp(dataFolder: string, withSecrets: boolean): Promise<string[]> {
  const paths: string[] = [];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const found = readdir(join(dataFolder, folder), { withFileTypes: true }).catch(unlessGone);
    const entries = (await found) ?? [];
    if (folder !== "" && entries.some(({ name }) => name === LEAVES_OUT)) continue;
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (isExcluded(path) || (!withSecrets && isSecret(path))) continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) paths.push(path);
    }
  }
  return paths.toSorted();
}

/**
 * The current home in a data folder; secrets only if requested. Each file is complete, even while a host
 * runs: files are replaced, never overwritten.
 *
 * @throws MantelError `invalid` for a home that is too large, or has a damaged document
 */
export async function readContents(
  dataFolder: string,
  withSecrets: boolean,
): Promise<BackupContents> {
  const [paths, leftOut] = await namesToBackUp(dataFolder, withSecrets);
  const [files, secrets] = [new Map<string, Buffer>(), new Map<string, Buffer>()];
  let room = MAX_HOME_BYTES;
  for (const path of paths) {
    const bytes = await readInside(dataFolder, path, Math.min(room, MAX_FILE_BYTES));
    if (bytes === undefined) continue; // it was deleted in the meantime
    room -= bytes.length;
    (isSecret(path) ? secrets : files).set(path, bytes);
  }
  assertDocuments(new Map([...files, ...secrets]));
  return { files, secrets, leftOut };
}

async function namesToBackUp(
  dataFolder: string,
  withSecrets: boolean,
): Promise<[included: string[], leftOut: string[]]> {
  const paths = await pathsToBackUp(dataFolder, withSecrets);
  if (paths.length > MAX_FILES) {
    const most = mostCommonFolder(paths);
    throw tooLarge(`more than ${MAX_FILES} files, ${most.count} of them in ${most.folder}`);
  }
  const seen = new Set<string>();
  const isIncluded = (path: string): boolean => {
    const key = foldedPath(path);
    if (!isNameAllowed(path) || seen.has(key)) return false;
    seen.add(key);
    return true;
  };
  const included = new Set(paths.filter(isIncluded));
  return [[...included], paths.filter((path) => !included.has(path))];
}

function mostCommonFolder(paths: readonly string[]): { folder: string; count: number } {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.split("/").slice(0, -1).slice(0, 2).join("/") || "the data folder";
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const [[folder, count] = ["", 0]] = [...counts].toSorted(([, a], [, b]) => b - a);
  return { folder, count };
}

/**
 * The bytes of a file, or `undefined` if it was deleted. Plugins write into their folders meanwhile, so
 * the opened file is checked: a link in its place would lead to another user's file.
 */
async function readInside(
  dataFolder: string,
  path: string,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const full = join(dataFolder, path);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(full, flags).catch(unlessGone);
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    const real = await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(full));
    // The second is a file that was replaced since it was opened (proc_pid_fd(5)).
    if (!found.isFile() || ![full, `${full} (deleted)`].includes(real)) return undefined;
    if (found.size > maxBytes) {
      const bound = maxBytes === MAX_FILE_BYTES ? "a file" : "a home";
      const limit = maxBytes === MAX_FILE_BYTES ? MAX_FILE_BYTES : MAX_HOME_BYTES;
      throw tooLarge(
        `${path} has ${mebibytes(found.size)}; ${bound} may have at most ${mebibytes(limit)}`,
      );
    }
    const bytes = Buffer.alloc(found.size);
    const { bytesRead } = await file.read(bytes, 0, found.size, 0);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** It was deleted, or is now a link (ELOOP) or something else. */
function unlessGone(error: unknown): undefined {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!["ENOENT", "ELOOP", "ENOTDIR", "ENXIO"].includes(code)) throw error;
}

function tooLarge(reason: string): MantelError {
  return new MantelError("invalid", `the home is too large for a backup: ${reason}`);
}

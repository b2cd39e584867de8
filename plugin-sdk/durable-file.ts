import { randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

const TEMPORARY = /^\..+\.[0-9a-f]{12}\.tmp$/;

/**
 * Replaces a file atomically: at any time it holds either the old or the new content. Resolves when the new
 * content would survive a power cut (temporary file, fsync, rename, fsync of the folder; see `syncHandle`).
 *
 * @throws the file system's error, such as `ENOSPC`; the old file is then intact
 */
export async function writeDurably(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(content);
      await syncHandle(file);
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/**
 * Writes the content of a file or folder to the disk. Newer versions of Node 24 refuse that in a process with its
 * permission model, as those of plugins are: then the system writes it within seconds, and a power cut may undo the change.
 */
export async function syncHandle(
  handle: FileHandle,
  how: "sync" | "datasync" = "sync",
): Promise<void> {
  try {
    await handle[how]();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_ACCESS_DENIED") throw error;
  }
}

/** Makes created, renamed and removed entries of a folder survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await syncHandle(handle);
  } finally {
    await handle.close();
  }
}

/**
 * Removes the temporary files of interrupted writes from a folder. Call it before the first write.
 * @param olderThanMs where another process may write too, a time after which a write has surely ended
 */
export async function sweepTemporaryFiles(folder: string, olderThanMs = 0): Promise<void> {
  const since = Date.now() - olderThanMs;
  for (const name of await readdir(folder)) {
    if (!TEMPORARY.test(name)) continue;
    const file = join(folder, name);
    const found = olderThanMs > 0 ? await stat(file).catch(() => undefined) : undefined;
    if (found && found.mtimeMs > since) continue;
    await rm(file, { force: true });
  }
}

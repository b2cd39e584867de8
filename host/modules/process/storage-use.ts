import { statfsSync } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { deletedFiles } from "./procfs.ts";

/** Entries that are examined at the same time. */
const AT_ONCE = 64;
const BLOCK_BYTES = 512;

/** A folder that counts, except for its first `freeBytes`. */
export interface CountedFolder {
  readonly path: string;
  readonly freeBytes?: number;
}

/** Disk space, and the number of entries: files, folders and links. */
export interface StorageUse {
  readonly bytes: number;
  readonly entries: number;
}

/**
 * Measures folders: the blocks of files and not their lengths, because files may have holes. Does not
 * follow links. Stops at `mostEntries`, and skips entries that are deleted meanwhile.
 */
export async function measureFolders(
  folders: readonly CountedFolder[],
  mostEntries: number,
): Promise<StorageUse> {
  let [bytes, entries] = [0, 0];
  for (const { path, freeBytes = 0 } of folders) {
    const use = await measureTree(path, mostEntries - entries);
    bytes += Math.max(0, use.bytes - freeBytes);
    entries += use.entries;
  }
  return { bytes, entries };
}

/** The size of a process's open files that were deleted. */
export function measureDeleted(pid: number): number {
  return deletedFiles(pid).reduce((sum, { blocks }) => sum + blocks * BLOCK_BYTES, 0);
}

/**
 * The free space of the disk that a folder is on; undefined while the folder is being created again. The kernel knows it
 * without a look at the disk.
 */
export function readFreeSpace(path: string): StorageUse | undefined {
  try {
    const { bfree, bsize, ffree } = statfsSync(path);
    return { bytes: bfree * bsize, entries: ffree };
  } catch {
    return undefined;
  }
}

async function measureTree(root: string, mostEntries: number): Promise<StorageUse> {
  let [bytes, entries] = [0, 0];
  const folders = [root];
  let batch: string[] = [];
  const count = async (): Promise<void> => {
    const sizes = await Promise.all(batch.map(sizeOf));
    bytes += sizes.reduce((sum, size) => sum + size, 0);
    batch = [];
  };
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of entriesOf(folder)) {
      entries += 1;
      if (entries >= mostEntries) break;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (batch.push(path) >= AT_ONCE) await count();
    }
    if (entries >= mostEntries) break;
  }
  await count();
  return { bytes, entries };
}

async function* entriesOf(folder: string) {
  try {
    yield* await opendir(folder, { bufferSize: AT_ONCE });
  } catch {
    // it was deleted, possibly while it was read
  }
}

async function sizeOf(path: string): Promise<number> {
  return lstat(path).then(
    ({ blocks }) => blocks * BLOCK_BYTES,
    () => 0,
  );
}

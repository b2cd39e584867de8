import { createHash, randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "@mantel/plugin-sdk/durable-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ArchiveFile } from "./archive.ts";

/** Bounds of a plugin with all its dependencies. */
const MAX_INSTALLED_BYTES = 1_024 * 2 ** 20;
const MAX_INSTALLED_FILES = 60_000;
const SYNCED_AT_ONCE = 16;
const STAGING = /^\.staging-[0-9a-f]{12}$/;
const SDK = "@mantel/plugin-sdk";

/** A name for a folder that is being filled. The next start removes leftover ones. */
export const stagingName = (): string => `.staging-${randomBytes(6).toString("hex")}`;

/** True for the name of a folder that was being filled. */
export const isStaging = (name: string): boolean => STAGING.test(name);

/** The integrity of an archive (subresource integrity, SHA-512). */
export async function integrityOf(archive: string): Promise<string> {
  const hash = createHash("sha512").update(await readFile(archive));
  return `sha512-${hash.digest("base64")}`;
}

/** Writes the files of a checked archive into a new folder. */
export async function writeArchive(
  folder: string,
  files: ReadonlyMap<string, ArchiveFile>,
): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  for (const [path, { bytes, isExecutable }] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes, { flag: "wx", mode: isExecutable ? 0o755 : 0o644 });
  }
}

/**
 * Makes a folder with everything in it survive a power cut, and checks its size.
 * @throws MantelError `install_failed` if it is too large, or holds a copy of the SDK
 */
export async function settleFolder(folder: string): Promise<void> {
  const { files, folders } = await listTree(folder);
  const work = [...files];
  const worker = async (): Promise<void> => {
    for (let file = work.pop(); file !== undefined; file = work.pop()) await syncFile(file);
  };
  await Promise.all(Array.from({ length: SYNCED_AT_ONCE }, worker));
  for (const each of folders.toReversed()) await syncFolder(each);
}

async function listTree(root: string): Promise<{ files: string[]; folders: string[] }> {
  const [files, folders]: [string[], string[]] = [[], []];
  const unread = [root];
  let bytes = 0;
  for (let folder = unread.pop(); folder !== undefined; folder = unread.pop()) {
    folders.push(folder);
    refuseSdk(folder);
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) unread.push(path);
      else if (entry.isFile()) {
        files.push(path);
        bytes += (await lstat(path).catch((): Pick<Stats, "size"> => ({ size: 0 }))).size;
      }
      if (files.length > MAX_INSTALLED_FILES || bytes > MAX_INSTALLED_BYTES) throw tooLarge();
    }
  }
  return { files, folders };
}

/** Two copies of the SDK in one plugin would not know each other's values. */
function refuseSdk(folder: string): void {
  if (!folder.endsWith(`/node_modules/${SDK}`)) return;
  throw new MantelError(
    "install_failed",
    `a dependency brings its own copy of ${SDK}, which Mantel provides; its author has to list it under "peerDependencies" with "peerDependenciesMeta": {"${SDK}": {"optional": true}}`,
  );
}

function tooLarge(): MantelError {
  return new MantelError(
    "install_failed",
    `the plugin with its dependencies has more than ${MAX_INSTALLED_FILES} files or ${MAX_INSTALLED_BYTES / 2 ** 20} MiB`,
  );
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

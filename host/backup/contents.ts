import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { migrated } from "@mantel/plugin-sdk/document-version";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { parseJsonText } from "@mantel/plugin-sdk/json-text";
import { parseLayout } from "../layout/parse.ts";
import type { Backup, FileSet } from "./archive.ts";

/** What can be made again, is of this machine, too large, or only tells of the past. */
const LEFT_OUT =
  /^(cache|photos|before-restore-[^/]*)\/|(^|\/)\.|^audit\.|\.(damaged|before-version)-[^/]*$|\.last-good$/;
/** Keys, and what may hold some: what plugins store is their own business, such as pairings. */
const SECRET = /^((secrets|keys|token-use|config\.pending)\.json|tokens\.jsonl|(tls|plugins)\/.*)$/;

export const isSecret = (path: string): boolean => SECRET.test(path);

/** Paths in a data folder that belong into a backup. Links are not followed. */
export async function pathsToKeep(dataFolder: string): Promise<string[]> {
  const found = await readdir(dataFolder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(dataFolder, join(parentPath, name)))
    .filter((path) => !LEFT_OUT.test(path))
    .toSorted();
}

/** Each file is whole, also of a host that runs: files are replaced, never written over. */
async function readAll(dataFolder: string, paths: readonly string[]): Promise<FileSet> {
  const files = new Map<string, Buffer>();
  for (const path of paths) {
    try {
      files.set(path, await readFile(join(dataFolder, path)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // went in the meantime
    }
  }
  return files;
}

/** What a data folder holds of a home now; secrets only when asked for. */
export async function readHome(
  dataFolder: string,
  withSecrets: boolean,
): Promise<{ files: FileSet; secrets: FileSet }> {
  const paths = await pathsToKeep(dataFolder);
  const open = paths.filter((path) => !isSecret(path));
  const files = await readAll(dataFolder, open);
  const secrets = await readAll(dataFolder, withSecrets ? paths.filter(isSecret) : []);
  assertReadable(new Map([...files, ...secrets]));
  return { files, secrets };
}

/** @throws MantelError `invalid` for a backup that holds no home, or one this Mantel cannot read */
export function assertFits({ files, secrets, mantel }: Backup, name: string): void {
  if (!files.has("layout.json")) throw new MantelError("invalid", `${name} holds no home`);
  try {
    assertReadable(new Map([...files, ...secrets]));
  } catch (cause) {
    const { message } = cause as Error;
    throw new MantelError("invalid", `${name}, of Mantel ${mantel}: ${message}`, { cause });
  }
}

/** @throws MantelError `invalid` for a document that is damaged, or of a newer Mantel */
function assertReadable(files: FileSet): void {
  for (const [path, bytes] of files) {
    if (!path.endsWith(".json")) continue;
    const value = parseJsonText(bytes.toString(), path);
    if (path.startsWith("plugins/")) continue;
    const document = migrated(value, { version: 1, migrations: {} }, path);
    if (path === "layout.json") parseLayout(document);
  }
}

import { lstat, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HostLog } from "../log.ts";

type Kind = "folder" | "file";

/** Expected files and folders. Documents check their own files. */
const KINDS: Readonly<Record<string, Kind>> = {
  cache: "folder",
  "layout-history": "folder",
  packages: "folder",
  plugins: "folder",
  "audit.log": "file",
};

/**
 * Sets aside files in the data folder that should be folders and the other way round, so
 * that the missing ones are created again. Nothing is deleted, and everything is logged.
 */
export async function setAsideMisplacedFiles(dataFolder: string, log: HostLog): Promise<void> {
  for (const [name, kind] of Object.entries(KINDS)) {
    const path = join(dataFolder, name);
    const found = await kindOf(path);
    if (found === undefined || found === kind) continue;
    const keptAs = `${path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
    await rename(path, keptAs);
    log.error(`set aside something that should be a ${kind}`, { path, keptAs, found });
  }
}

/** The kind of a file, following links; `undefined` if it does not exist. */
async function kindOf(path: string): Promise<Kind | "something else" | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return "folder";
  if (found?.isFile()) return "file";
  const isThere = found ?? (await lstat(path).catch(() => undefined)); // a link may lead nowhere
  return isThere && "something else";
}

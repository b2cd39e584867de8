import { lstat, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HostLog } from "../log.ts";

type Kind = "folder" | "file";

/** Documents look after themselves. */
const KINDS: Readonly<Record<string, Kind>> = {
  cache: "folder",
  "layout-history": "folder",
  plugins: "folder",
  "audit.log": "file",
};

/**
 * Sets aside what has the name of a folder in the data folder and is none, or of a file and is none, so
 * that what is missing then is made anew. Nothing is deleted, and all of it is told.
 */
export async function setAsideWrongKinds(dataFolder: string, log: HostLog): Promise<void> {
  for (const [name, kind] of Object.entries(KINDS)) {
    const path = join(dataFolder, name);
    const found = await kindOf(path);
    if (found === undefined || found === kind) continue;
    const keptAs = `${path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
    await rename(path, keptAs);
    log.error(`what should be a ${kind} was set aside`, { path, keptAs, found });
  }
}

/** What is there, behind links; `undefined` for nothing at all. */
async function kindOf(path: string): Promise<Kind | "something else" | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return "folder";
  if (found?.isFile()) return "file";
  const isThere = found ?? (await lstat(path).catch(() => undefined)); // a link may lead nowhere
  return isThere && "something else";
}

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { compileHost } from "../../host/compiled.js";
import { saveSnapshot, snapshotFile } from "../../host/snapshot.ts";

/** Makes the snapshot that the host makes after its second start, if there is none. */
export async function makeHostSnapshot(): Promise<void> {
  const base = (await compileHost()).replace(/\.mjs$/, "");
  if (!existsSync(snapshotFile(base))) await saveSnapshot(base, await nodeInUse());
}

/** The file of Node as host/start.sh names it. */
export async function nodeInUse(): Promise<string> {
  const { stdout } = await promisify(execFile)("ls", ["-Lil", process.execPath]);
  return stdout.trim();
}

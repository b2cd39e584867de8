import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import { promisify } from "node:util";
import { compileHost } from "../../host/compiled.js";
import { madeForFile, saveSnapshot } from "../../host/snapshot.ts";

/** Makes the snapshot of the host at once, unless there is one. The host itself makes it half a minute after its second start. */
export async function makeHostSnapshot(): Promise<void> {
  const base = (await compileHost()).replace(/\.mjs$/, "");
  const madeFor = await readFile(madeForFile(base), "utf8").catch(() => "");
  const wanted = await snapshotFor(".");
  if (madeFor.trimEnd() !== wanted) await saveSnapshot(base, wanted);
}

/** The line that host/snapshot-for.sh prints in a copy of the repository, with the Node of this process. */
export async function snapshotFor(repository: string): Promise<string> {
  const { stdout } = await promisify(execFile)("sh", ["host/snapshot-for.sh"], {
    cwd: repository,
    env: { PATH: pathWithNode() },
  });
  return stdout.trimEnd();
}

/** The search path of programs with the Node of this process. */
export const pathWithNode = (): string =>
  `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;

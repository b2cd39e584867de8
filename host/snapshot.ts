// A snapshot of the host's process with all its code loaded: a start with it takes a third less CPU time. host/start.sh
// uses it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";

const DEADLINE_MS = 120_000;

export const snapshotFile = (base: string): string => join(dirname(base), "host.snapshot");

/** Takes from the environment what host/start.sh says of the file of Node that it runs. */
export function takeNodeInUse(): string | undefined {
  const { MANTEL_NODE: node } = process.env;
  delete process.env["MANTEL_NODE"];
  return node;
}

/** The file that host/start.sh leaves until the host begins, which it does not with a snapshot that Node cannot use. */
export const begunFile = (base: string): string => `${snapshotFile(base)}.by-${process.pid}`;

/**
 * Makes the snapshot of the compiled host whose files begin with `base`, for the file of Node that `node` names. Without
 * it, later starts take longer.
 */
export async function saveSnapshot(base: string, node: string): Promise<void> {
  const file = snapshotFile(base);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await run(["--snapshot-blob", temporary, "--build-snapshot", `${base}.snapshot.cjs`]);
    await run(["--snapshot-blob", temporary, "launch.js", "--help"]);
    await writeToDisk(temporary);
    await rm(`${file}.node`, { force: true });
    await rename(temporary, file);
    await writeFile(`${file}.node`, `${node}\n`);
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** Runs Node at the lowest priority. */
async function run(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: "ignore", env: {}, timeout: DEADLINE_MS });
  const ended = once(child, "exit");
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}`);
}

/** A file that a power cut left half written would be renamed already. */
async function writeToDisk(path: string): Promise<void> {
  const file = await open(path);
  await file.sync();
  await file.close();
}

// A snapshot of the host's process with its code loaded, which host/start.sh uses: a start with it takes about 30 % less
// CPU time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { open, rename, rm, stat, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";

const DEADLINE_MS = 120_000;

const snapshotFile = (base: string): string => join(dirname(base), "host.snapshot");

/** The file with the line of host/snapshot-for.sh that the snapshot was made for. */
export const madeForFile = (base: string): string => `${snapshotFile(base)}.for`;

/** The file that host/start.sh leaves until the host begins, which it does not with a snapshot that Node cannot use. */
export const startingFile = (base: string): string => `${snapshotFile(base)}.by-${process.pid}`;

/** Takes from the environment the line of host/snapshot-for.sh; absent where a snapshot would not be used. */
export function takeSnapshotFor(): string | undefined {
  const { MANTEL_SNAPSHOT_FOR: line } = process.env;
  delete process.env["MANTEL_SNAPSHOT_FOR"];
  return line === "" ? undefined : line;
}

/**
 * Makes the snapshot of the compiled host whose files begin with `base`, for what the line `madeFor` names. Without it,
 * later starts take longer.
 */
export async function saveSnapshot(base: string, madeFor: string): Promise<void> {
  const file = snapshotFile(base);
  const temporary = `${file}.${process.pid}.tmp`;
  const remove = () => rmSync(temporary, { force: true });
  process.once("exit", remove);
  try {
    // A program that chooses among several versions of Node is another file.
    const { ino } = await stat(process.execPath);
    if (Number.parseInt(madeFor) !== ino) return;
    await run(["--snapshot-blob", temporary, "--build-snapshot", `${base}.snapshot.cjs`]);
    await run(["--snapshot-blob", temporary, "launch.js", "--help"]);
    await writeToDisk(temporary);
    await rm(madeForFile(base), { force: true });
    await rename(temporary, file);
    await writeFile(madeForFile(base), `${madeFor}\n`);
  } catch {
    // The next start makes it.
  } finally {
    process.off("exit", remove);
    remove();
  }
}

/** Runs Node at the lowest priority. It ends with this process. */
async function run(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: "ignore", env: {}, timeout: DEADLINE_MS });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  try {
    const ended = once(child, "exit");
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}`);
  } finally {
    process.off("exit", end);
  }
}

/** A file that a power cut left half written would be renamed already. */
async function writeToDisk(path: string): Promise<void> {
  const file = await open(path);
  await file.sync();
  await file.close();
}

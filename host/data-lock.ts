import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";

const LOCK = /^\.host-(\d+)-(\d+)\.lock$/;
const UNKNOWN = "0";

/**
 * Locks the data folder against a second host, which would overwrite stored data.
 * Returns the function that unlocks it. Hosts on other machines or in other containers are not detected.
 *
 * The lock is an empty file, named after the process that holds it and that process's start time, so
 * that a lock left by a crash is never mistaken for a running host, even if its pid is in use again.
 *
 * @throws MantelError `invalid`, naming the process that holds the folder
 */
export async function lockDataFolder(folder: string): Promise<() => Promise<void>> {
  const own = `.host-${process.pid}-${(await look(process.pid)).startedAt}.lock`;
  const unlock = () => rm(join(folder, own), { force: true });
  // Written before the check: of two hosts that start at once, at least one sees the other.
  await writeFile(join(folder, own), "", { mode: 0o600 });
  try {
    for (const name of await readdir(folder)) {
      if (name !== own) await refuseOther(folder, name);
    }
  } catch (error) {
    await unlock();
    throw error;
  }
  return unlock;
}

/** The process id of the host that uses this data folder now, if there is one. */
export async function findRunningHost(folder: string): Promise<number | undefined> {
  for (const name of await readdir(folder)) {
    if (await isHeld(name)) return Number(LOCK.exec(name)?.[1]);
  }
  return undefined;
}

async function refuseOther(folder: string, name: string): Promise<void> {
  const [, pid] = LOCK.exec(name) ?? [];
  if (pid === undefined) return;
  if (await isHeld(name)) {
    throw new MantelError(
      "invalid",
      `the data folder ${folder} is in use by another Mantel (process ${pid}); stop that one, or choose another folder with --data`,
    );
  }
  await rm(join(folder, name), { force: true });
}

async function isHeld(name: string): Promise<boolean> {
  const [, pid, startedAt] = LOCK.exec(name) ?? [];
  if (pid === undefined) return false;
  const found = await look(Number(pid));
  const isSame = [found.startedAt, UNKNOWN].includes(startedAt ?? UNKNOWN);
  return found.isRunning && (isSame || found.startedAt === UNKNOWN);
}

/** The state of a process: `isRunning`, and its start time in ticks since the boot, if `/proc` has it (proc(5)). */
async function look(pid: number): Promise<{ isRunning: boolean; startedAt: string }> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name is in brackets and may contain spaces and brackets itself; the state follows it.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { isRunning: state !== "Z" && isThere(pid), startedAt: fields[18] ?? UNKNOWN };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // it belongs to another user
  }
}

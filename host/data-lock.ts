import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";

const LOCK = /^\.host-(\d+)-(\d+)\.lock$/;
const UNKNOWN = "0";

/**
 * Keeps a second host off a data folder, in which both would overwrite what the other has stored.
 * The function it gives unlocks. Hosts on other machines or in other containers are not seen.
 *
 * The lock is an empty file, named after the process that holds it and when that process started, so
 * that what a crash has left behind is never mistaken for a host, whatever has its pid now.
 *
 * @throws MantelError `invalid`, naming the process that holds the folder
 */
export async function lockDataFolder(folder: string): Promise<() => Promise<void>> {
  const own = `.host-${process.pid}-${(await look(process.pid)).startedAt}.lock`;
  const unlock = () => rm(join(folder, own), { force: true });
  // Told before it is asked: of two hosts that start at once, at least one sees the other.
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

/** The process of the host that has this data folder now, as far as there is one. */
export async function findHost(folder: string): Promise<number | undefined> {
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
      `the data folder ${folder} is in use by another Mantel (process ${pid}); stop that one, or name another folder with --data`,
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

/** Whether a process runs, and when it started: in ticks since the boot, where `/proc` tells (proc(5)). */
async function look(pid: number): Promise<{ isRunning: boolean; startedAt: string }> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name is in brackets and may hold spaces and brackets itself; after it comes the state.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { isRunning: state !== "Z" && isThere(pid), startedAt: fields[18] ?? UNKNOWN };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // another user's
  }
}

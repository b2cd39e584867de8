import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, sep } from "node:path";
import { newestProcesses, readEnvironment } from "./procfs.ts";

/** Repeated searches find programs that are started while others are being killed. */
const MOST_LOOKS = 5;

/**
 * Kills programs that were started with `mark` in their environment: those that a plugin
 * started and that left its process group (setsid(2)). It does not find programs started without their
 * parent's environment, or any where there is no /proc.
 */
export function killProcessesWithMark(mark: string): void {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const leftovers = newestProcesses().filter((pid) =>
      readEnvironment(pid).includes(`\0${mark}\0`),
    );
    if (leftovers.length === 0) return;
    for (const pid of leftovers) kill(pid);
  }
}

/** Kills one process, if it still exists. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}

/**
 * Kills plugin processes left over from an earlier host, with their child processes, and returns their
 * number. A process whose host ends exits by itself, except in an endless loop when its host is killed.
 * Call it while holding the lock of the data folder: a process of one of its plugins then belongs to no host.
 * Finds none where there is no /proc.
 */
export function killProcessesOfEarlierHosts(dataFolder: string): number {
  const storage = join(dataFolder, "plugins") + sep;
  const orphans = pids().filter((pid) => isMarked(pid, storage) || isPluginProcess(pid, storage));
  for (const pid of orphans) {
    killGroup(pid);
    kill(pid); // in case it leads no process group
  }
  return orphans.length;
}

function pids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/**
 * True if a process has the mark of a generation, and its temporary folder is in the storage of one of these
 * plugins.
 */
function isMarked(pid: number, storage: string): boolean {
  const environment = readEnvironment(pid);
  return (
    environment.includes("\0MANTEL_GENERATION=") && environment.includes(`\0TMPDIR=${storage}`)
  );
}

/** True for Node with a process title of ours; false for a user's shell in the same folder. */
function isPluginProcess(pid: number, storage: string): boolean {
  try {
    const works = `${readlinkSync(`/proc/${pid}/cwd`)}${sep}`.startsWith(storage);
    if (!works || readlinkSync(`/proc/${pid}/exe`) !== process.execPath) return false;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return command.startsWith("mantel ") || /\/runtime-[0-9a-f]+\/start\.cjs\0/.test(command);
  } catch {
    return false; // it has ended, or belongs to another user
  }
}

/** Kills a process and all its child processes. */
export function killGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, "SIGKILL");
  } catch {
    // ESRCH: none of them exists any more
  }
}

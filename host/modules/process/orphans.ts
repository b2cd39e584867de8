import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, sep } from "node:path";
import { endGroup } from "./generation.ts";

/**
 * Ends plugin processes that an earlier host left behind, and gives how many. A process whose host goes
 * ends itself, but not one that is in an endless loop when its host is killed. Call it with the data folder
 * locked: whoever works in a plugin's storage folder then belongs to no host. Where there is no /proc,
 * it finds none.
 */
export function endOrphans(dataFolder: string): number {
  const storage = join(dataFolder, "plugins") + sep;
  const orphans = pids().filter((pid) => isPluginProcess(pid, storage));
  for (const pid of orphans) endGroup(pid);
  return orphans.length;
}

function pids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** A shell that somebody has open there is none: a process of ours has Node's program and a title of ours. */
function isPluginProcess(pid: number, storage: string): boolean {
  try {
    const works = `${readlinkSync(`/proc/${pid}/cwd`)}${sep}`.startsWith(storage);
    if (!works || readlinkSync(`/proc/${pid}/exe`) !== process.execPath) return false;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return command.startsWith("mantel ") || /\/runtime-[0-9a-f]+\.cjs\0/.test(command);
  } catch {
    return false; // it has ended, or is somebody else's
  }
}

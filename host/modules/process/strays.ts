import { readFileSync } from "node:fs";
import { newestProcesses } from "./proc.ts";

/** Programs that are being started while others are ended are found by another look. */
const MOST_LOOKS = 5;

/**
 * Ends the programs that have `mark` in the environment they were started with: those that a plugin
 * started and that left its process group (setsid(2)). One that was started without the environment of its
 * parent is not found, nor is any where there is no /proc.
 */
export function endStrays(mark: string): void {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const strays = newestProcesses().filter((pid) => hasMark(pid, mark));
    if (strays.length === 0) return;
    for (const pid of strays) end(pid);
  }
}

function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark);
  } catch {
    return false; // it has ended, or is somebody else's
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}

import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { basename, join, resolve } from "node:path";
import { watch } from "chokidar";
import { readOptions } from "../../host/options.ts";

const SETTLE_MS = 100;

/** The folder of the home's automations; `undefined` if the options are invalid, which the host reports. */
export function automationsFolder(args: readonly string[]): string | undefined {
  try {
    return join(resolve(readOptions(args, process.env, ".").dataFolder), "automations");
  } catch {
    return undefined;
  }
}

/** The test of a saved file of automations: `hall.test.ts` for itself and for `hall.ts`. */
export function testOf(file: string): string | undefined {
  const name = basename(file);
  if (!name.endsWith(".ts") || name.endsWith(".d.ts")) return undefined;
  const test = name.endsWith(".test.ts") ? name : name.replace(/\.ts$/, ".test.ts");
  return existsSync(join(file, "..", test)) ? test : undefined;
}

/**
 * Runs the tests of automations at each save, one run at a time, and prints what they report. The process group of a run
 * is in `groups` until it ends.
 */
export function runTestsOnSave(folder: string, groups: Set<number>): void {
  const due = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  const runSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(run, SETTLE_MS).unref();
  };
  const run = (): void => {
    if (isRunning || due.size === 0) return;
    const program = [
      "--import",
      "tsx",
      "scripts/test-automations.ts",
      "--data",
      join(folder, ".."),
    ];
    const child = spawn(process.execPath, [...program, ...due], {
      detached: true,
      stdio: ["ignore", "inherit", "inherit"],
    });
    due.clear();
    const { pid } = child;
    if (pid === undefined) return void child.once("error", (error) => console.error(error.message));
    isRunning = true;
    groups.add(pid);
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    child.once("close", () => {
      groups.delete(pid);
      isRunning = false;
      runSoon();
    });
  };
  mkdirSync(folder, { recursive: true, mode: 0o700 }); // a folder that comes later would not be seen
  watch(folder, { depth: 0, ignoreInitial: true, persistent: false }).on("all", (event, file) => {
    const test = event === "add" || event === "change" ? testOf(file) : undefined;
    if (test === undefined) return;
    due.add(test);
    runSoon();
  });
}

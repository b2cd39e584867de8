// npm run dev [-- flags of the host]: runs the host with a verbose log, and at each save checks types and runs the tests
// of a saved automation. Permissions that a saved plugin requests are granted automatically.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { watch } from "chokidar";
import { automationsFolder, runTestsOnSave } from "./dev/automation-tests.ts";
import { externalPluginFolders, tsProjects } from "./dev/external-plugins.ts";

const CODE = ["host", "plugin-sdk", "plugins", "scripts", "test"];
const PROJECTS = [".", "host/dashboard"];
const SETTLE_MS = 100;

const elsewhere = externalPluginFolders();
/** The folder of generated TypeScript projects for plugins outside the repository, and of what the compiler remembers. */
const place = mkdtempSync(join(tmpdir(), "mantel-types-"));

/** The process groups of running compilers and tests. */
const groups = new Set<number>();
let timer: NodeJS.Timeout | undefined;
let checking = false;
let lastReport = "";

watch([...CODE, ...elsewhere], { ignored: /node_modules/, ignoreInitial: true, persistent: false })
  .on("all", checkSoon)
  .on("ready", checkSoon);

const automations = automationsFolder(process.argv.slice(2));
if (automations !== undefined) runTestsOnSave(automations, groups);

process.once("exit", () => {
  groups.forEach(endGroup);
  rmSync(place, { recursive: true });
});

process.env.MANTEL_LOG_LEVEL ??= "debug";
process.argv.push("--consent-on-save");
(await import("../host/main.ts")).begin();

/** Combines several saves into one check. Saves during a check start one more check after it. */
function checkSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => (checking ? checkSoon() : void checkTypes()), SETTLE_MS).unref();
}

async function checkTypes(): Promise<void> {
  checking = true;
  // A folder that was just deleted; another check follows.
  const others = await tsProjects(elsewhere, place).catch(() => []);
  const reports = await Promise.all([...PROJECTS, ...others].map(typeErrors));
  checking = false;
  const report = reports.join("");
  if (report !== lastReport) process.stderr.write(report || "types: no errors left\n");
  lastReport = report;
}

/**
 * The compiler's output for one project; after the first time it checks only what a change may concern. It runs at the
 * lowest priority and, because several checkers take twice the CPU time, with one, so that the host stays fast.
 */
async function typeErrors(project: string): Promise<string> {
  const memory = join(place, "remembered", project, "tsbuildinfo");
  const args = ["-p", project, "--noEmit", "--pretty", String(Boolean(process.stderr.isTTY))];
  args.push("--incremental", "--tsBuildInfoFile", memory, "--checkers", "1");
  const tsc = spawn("node_modules/.bin/tsc", args, {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const group = tsc.pid;
  if (group === undefined) return "";
  groups.add(group);
  setPriority(group, constants.priority.PRIORITY_LOW);
  const report = await text(tsc.stdout);
  groups.delete(group);
  return report;
}

function endGroup(group: number): void {
  try {
    process.kill(-group);
  } catch {
    // It has already ended.
  }
}

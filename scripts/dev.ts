// npm run dev [-- flags of the host]: the host with a verbose log, and type errors at each save.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { watch } from "chokidar";
import { foldersElsewhere, writeProjects } from "./dev/elsewhere.ts";

const CODE = ["host", "plugin-sdk", "plugins", "scripts", "test"];
const PROJECTS = [".", "host/dashboard"];
const SETTLE_MS = 100;

/** Plugins that are not in the repository have projects written for them at each check. */
const elsewhere = foldersElsewhere();
const place = mkdtempSync(join(tmpdir(), "mantel-types-"));

/** Compilers at work, each with a process group of its own. */
const compilers = new Set<number>();
let timer: NodeJS.Timeout | undefined;
let checking = false;
let lastReport = "";

watch([...CODE, ...elsewhere], { ignored: /node_modules/, ignoreInitial: true, persistent: false })
  .on("all", checkSoon)
  .on("ready", checkSoon);

process.once("exit", () => {
  compilers.forEach(endGroup);
  rmSync(place, { recursive: true });
});

process.env.MANTEL_LOG_LEVEL ??= "debug";
await import("../host/main.ts");

/** Several saves are one check, and saves during a check are one more after it. */
function checkSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => (checking ? checkSoon() : void checkTypes()), SETTLE_MS).unref();
}

async function checkTypes(): Promise<void> {
  checking = true;
  // A folder that has just gone has no types, and another check comes.
  const others = await writeProjects(elsewhere, place).catch(() => []);
  const reports = await Promise.all([...PROJECTS, ...others].map(typeErrors));
  checking = false;
  const report = reports.join("");
  if (report !== lastReport) process.stderr.write(report || "types: no errors left\n");
  lastReport = report;
}

/** What the compiler says of one project. It runs at the lowest priority: the host comes first. */
async function typeErrors(project: string): Promise<string> {
  const args = ["-p", project, "--pretty", String(Boolean(process.stderr.isTTY))];
  const tsc = spawn("node_modules/.bin/tsc", args, {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const group = tsc.pid;
  if (group === undefined) return "";
  compilers.add(group);
  setPriority(group, constants.priority.PRIORITY_LOW);
  const report = await text(tsc.stdout);
  compilers.delete(group);
  return report;
}

function endGroup(group: number): void {
  try {
    process.kill(-group);
  } catch {
    // It has just ended by itself.
  }
}

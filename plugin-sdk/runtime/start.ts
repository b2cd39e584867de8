// The first file of a plugin's process: runs the code of the others, compiled by V8 before. With SAVE it runs them once
// and saves what V8 compiled: of the SDK only what each process runs, and of the library for schemas what the SDK uses.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { exit, argv } from "node:process";
import { setFlagsFromString } from "node:v8";
import { runCached } from "./compiled-code.ts";
import { CODE, SAVE } from "./files.ts";

/** The time after which the code has run what each process runs before it gets its plugin. */
const SETTLED_MS = 100;

/**
 * V8 takes compiled code, that of Node's modules too, only in a process with the flags it was compiled with. These two
 * limit the heap, which has its limits by now, so they are taken back while the code is loaded.
 */
const LIMITS = process.execArgv.filter((flag) => /^--max-(old|semi)-space-size=/.test(flag));
for (const flag of LIMITS) setFlagsFromString(flag.replace(/=.*/, "=0"));
const folder = dirname(__filename);
const code = join(folder, CODE);
const run = runCached(code, folder, createRequire(code));
// The heap of a worker thread gets its limits from the flags.
if (mayStartThreads()) for (const flag of LIMITS) setFlagsFromString(flag);
if (argv[2] === SAVE) {
  setTimeout(() => {
    run.save();
    for (const exported of Object.values(run.exports["sdk"] as object)) void exported; // runs all of its modules
    exit();
  }, SETTLED_MS);
}

function mayStartThreads(): boolean {
  // A process with a debugger has no permission model.
  const { permission }: Partial<Pick<NodeJS.Process, "permission">> = process;
  return permission?.has("worker") ?? true;
}

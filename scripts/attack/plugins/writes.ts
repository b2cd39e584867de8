import { readdir, readFile } from "node:fs/promises";
import type { Proof } from "../proof.ts";
import type { Stage } from "../stage.ts";

const OUTSIDE_FLAGS = `
  const hot = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum; };
  const run = () => { for (let i = 0; i < 300; i++) hot(20_000); };`;

/** Attacks that write outside the plugin's own folders. */
export const WRITES: readonly Proof[] = [
  {
    name: "write files, links and copies outside",
    heldFrom: "kernel",
    attack: `
  fs.writeFileSync("own", "x");
  return anyOf([
    ...waysTo(facts.target + "/pwned").map((way) => () => fs.writeFileSync(way(), "x") ?? "written"),
    () => fs.renameSync("own", facts.target + "/pwned") ?? "renamed",
    () => fs.linkSync("own", facts.target + "/pwned") ?? "linked",
    () => fs.cpSync("own", facts.target + "/pwned") ?? "copied",
    () => fs.mkdtempSync(facts.target + "/pwned"),
    () => { fs.symlinkSync(facts.target, "link"); fs.writeFileSync("link/pwned", "x"); return "by a link"; },
    () => { process.chdir(facts.target); fs.writeFileSync("pwned", "x"); return "in its folder"; },
  ]);`,
    look: lookAtTarget,
  },
  {
    name: "write a report over the token register",
    heldFrom: "permission-model",
    attack: `
  return anyOf([facts.target, facts.data].map((folder) => () => {
    process.report.directory = folder;
    process.report.writeReport(folder === facts.data ? "tokens.jsonl" : "pwned.json");
    return "written";
  }));`,
    look: lookAtTarget,
  },
  {
    name: "write files by V8's flags (--trace-turbo-path, --logfile)",
    heldFrom: "permission-model",
    attack: `${OUTSIDE_FLAGS}
  v8.setFlagsFromString("--trace-turbo-path=" + facts.target);
  v8.setFlagsFromString("--trace-turbo");
  v8.setFlagsFromString("--logfile=" + facts.target + "/pwned.log");
  v8.setFlagsFromString("--log-all");
  run();
  return "flags are set";`,
    look: lookAtTarget,
  },
  {
    name: "write files by SQLite (ATTACH, VACUUM INTO)",
    heldFrom: "permission-model",
    attack: `
  const { DatabaseSync } = await anyOf([() => builtin("sqlite"), () => import("node:sqlite")]);
  const database = new DatabaseSync(":memory:");
  return anyOf([
    () => database.exec("ATTACH '" + facts.target + "/pwned.db' AS a; CREATE TABLE a.t (x)") ?? "attached",
    () => database.exec("VACUUM INTO '" + facts.target + "/pwned-2.db'") ?? "vacuumed",
    () => new DatabaseSync(facts.target + "/pwned-3.db") && "opened",
  ]);`,
    look: lookAtTarget,
  },
  {
    name: "write trace events, heap snapshots and compiled code outside",
    heldFrom: "permission-model",
    attack: `
  for (const way of waysTo(facts.target)) try { process.chdir(way()) } catch {}
  return anyOf([
    () => builtin("trace_events").createTracing({ categories: ["node", "v8"] }).enable() ?? "tracing",
    () => v8.writeHeapSnapshot("pwned.heapsnapshot"),
    () => { if (module.enableCompileCache(facts.target)?.status === 1) return "compile cache"; },
    () => { v8.setHeapSnapshotNearHeapLimit(1); const kept = []; for (let i = 0; i < 2 ** 24; i++) kept.push({ i }); },
  ]);`,
    look: lookAtTarget,
  },
];

/** A folder of the machine in which nothing may appear, and the register of tokens, which may only grow. */
async function lookAtTarget({ facts, registerBefore }: Stage): Promise<string | undefined> {
  const written = await readdir(facts.target);
  if (written.length > 0) return `wrote ${written.join(", ")}`;
  const register = await readFile(`${facts.data}/tokens.jsonl`, "utf8");
  return register.startsWith(registerBefore) ? undefined : "the token register was overwritten";
}

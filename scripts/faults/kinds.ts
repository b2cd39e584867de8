/** A way for a plugin to go wrong, and what the host has to make of it. */
export interface FaultKind {
  readonly name: string;
  /** The body of an async function of `ctx`, in which `hold` is a list that lasts. */
  readonly code: string;
  /** What the module's error says. */
  readonly cause: RegExp;
  /** In the manifest; a start may take half a minute where they do not say. */
  readonly limits?: object;
}

/** A busy machine takes long to fill a heap. */
const START_MS = 30_000;
/** Fills the heap step by step, in one go; `item` makes one more thing to keep. */
const filling = (item: string) => `for (let n = 0; ; n++) hold.push(${item});`;
const HUNG = /did not answer for \d+ ms and used \d+ ms of CPU/;
/** On a busy machine the silence may be found before the heap is full. */
const FULL = /heap (was|is) full|did not answer for \d+ ms and used/;
const ASLEEP = /did not answer for \d+ ms, asleep/;
const TOO_LATE = { cause: /start did not end/, limits: { startMs: 4_000 } };
const FLOOD = /flooded the host/;
const FOREIGN = /no message/;

/** Faults while the plugin works: it is ended and starts again. */
export const FAULTS: readonly FaultKind[] = [
  { name: "endless loop", code: "for (;;);", cause: HUNG },
  { name: "regex blow-up", code: `/^(a+)+$/.test("a".repeat(50) + "b");`, cause: HUNG },
  {
    name: "microtask storm",
    code: "const go = () => { void Promise.resolve().then(go); }; go();",
    cause: HUNG,
  },
  {
    name: "tick storm",
    code: "const go = () => { process.nextTick(go); }; go();",
    cause: HUNG,
  },
  { name: "blocking execSync", code: `execSync("sleep 60");`, cause: ASLEEP },
  {
    name: "blocking wait",
    code: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);",
    cause: ASLEEP,
  },
  {
    name: "unhandled rejection",
    code: `void Promise.reject(new Error("alone"));`,
    cause: /nothing caught a rejected promise: Error: alone/,
  },
  {
    name: "rejection with a text",
    code: `void Promise.reject("alone");`,
    cause: /nothing caught a rejected promise: .*alone/,
  },
  {
    name: "throw in a timer",
    code: `setTimeout(() => { throw new TypeError("late"); });`,
    cause: /nothing caught an error: TypeError: late/,
  },
  { name: "growing array", code: filling("new Array(1000).fill(n)"), cause: FULL },
  {
    name: "growing map",
    code: "const map = new Map(); hold.push(map); for (let n = 0; ; n++) map.set(n, { n });",
    cause: FULL,
  },
  {
    name: "growing strings",
    code: filling("Buffer.alloc(100_000, 97 + (n % 26)).toString()"),
    cause: FULL,
  },
  {
    name: "growing in a timer",
    code: "setInterval(() => { for (let n = 0; n < 1000; n++) hold.push(new Array(100).fill(n)); }, 1);",
    cause: FULL,
  },
  { name: "one huge array", code: "hold.push(new Array(2 ** 27).fill({}));", cause: FULL },
  {
    name: "buffers",
    code: "setInterval(() => hold.push(Buffer.alloc(16 * 2 ** 20, 1)), 5);",
    cause: /used \d+ MiB of memory, and 192 MiB is its limit/,
  },
  {
    name: "CPU burnt in slices",
    code: "const burn = () => { for (const until = Date.now() + 50; Date.now() < until; ); setImmediate(burn); }; burn();",
    limits: { cpuPercent: 6 },
    cause: /used \S+ s of CPU time within 30 s, and 6 % \(1.8 s\) is its limit/,
  },
  { name: "exit", code: "process.exit(3);", cause: /ended itself with code 3/ },
  { name: "exit without a fault", code: "process.exit(0);", cause: /ended itself with code 0/ },
  { name: "abort", code: "process.abort();", cause: /aborted/ },
  ...(["SIGTERM", "SIGKILL", "SIGHUP"] as const).map((signal) => ({
    name: `${signal} to itself`,
    code: `process.kill(process.pid, "${signal}");`,
    cause: new RegExp(`ended by ${signal}`),
  })),
  {
    name: "SIGSTOP to itself",
    code: `process.kill(process.pid, "SIGSTOP");`,
    cause: /a signal \(SIGSTOP\) has stopped it/,
  },
  {
    name: "SIGSEGV to itself",
    code: `process.kill(process.pid, "SIGSEGV");`,
    cause: /crashed with SIGSEGV/,
  },
  {
    name: "fork bomb",
    code: `spawn("sh", ["-c", "for n in $(seq 200); do sleep 600 & done; wait"]);`,
    cause: /had \d+ processes running, and 64 are allowed/,
  },
  {
    name: "descriptor exhaustion",
    code: `writeFileSync("file", ""); setInterval(() => { for (let n = 0; n < 500; n++) openSync("file"); }, 10);`,
    cause: /more than 4096 files and sockets open/,
  },
  {
    name: "flood of messages",
    code: "const go = () => { for (let n = 0; n < 100; n++) ctx.reportDegraded(String(n)); setImmediate(go); }; go();",
    cause: /flooded the host|heap (was|is) full/,
  },
  {
    name: "flood of calls",
    code: "const go = () => { for (let n = 0; n < 100; n++) void ctx.devices.publish([]).catch(() => 0); setImmediate(go); }; go();",
    cause: /flooded the host|heap (was|is) full/, // calls that wait fill its own heap too
  },
  {
    name: "flood of large messages",
    code: `const text = "x".repeat(4 * 2 ** 20); setInterval(() => ctx.reportDegraded(text), 5);`,
    cause: /flooded the host|MiB of memory|heap (was|is) full/,
  },
  {
    name: "message of 100 MB",
    code: "const part = Buffer.alloc(65_536, 97); for (let left = 1_600; left > 0;) { try { writeSync(3, part); left--; } catch { /* full */ } }",
    cause: /message of more than 8 MiB|did not answer/, // it waits for the pipe in a loop
  },
  { name: "closed channel", code: "closeSync(3);", cause: /closed its channel to the host/ },
  { name: "no message", code: String.raw`writeSync(3, "hello\n");`, cause: FOREIGN },
  {
    name: "forged failure",
    code: String.raw`for (let call = 0; call < 5_000; call++) { try { writeSync(3, JSON.stringify({ kind: "failure", call }) + "\n"); } catch { call--; } }`,
    cause: FOREIGN,
  },
];

/** Faults of a start: the module fails, and says why. */
export const START_FAULTS: readonly FaultKind[] = [
  { name: "throw at start", code: `throw new Error("no lamp");`, cause: /no lamp/ },
  { name: "slow start", code: "await new Promise(() => undefined);", ...TOO_LATE },
  { name: "loop at start", code: "for (;;);", ...TOO_LATE, cause: HUNG },
  {
    name: "blocking at start",
    code: 'execSync("sleep 60");',
    ...TOO_LATE,
    cause: ASLEEP,
  },
  { name: "exit at start", code: "process.exit(4);", cause: /ended itself with code 4/ },
  { name: "array at start", code: filling("new Array(1000).fill(n)"), cause: FULL },
  {
    name: "map at start",
    code: "const map = new Map(); for (let n = 0; ; n++) map.set(n, { n });",
    cause: FULL,
  },
  {
    name: "buffers at start",
    code: "setInterval(() => hold.push(Buffer.alloc(16 * 2 ** 20, 1)), 5); await new Promise(() => undefined);",
    cause: /used \d+ MiB of memory/,
  },
  {
    name: "flood at start",
    code: "const go = () => { for (let n = 0; n < 100; n++) ctx.reportDegraded(String(n)); setImmediate(go); }; go(); await new Promise(() => undefined);",
    cause: FLOOD,
  },
];

/**
 * The files of a bridge with one lamp, `<kind>:light:1`. It commits the fault when the lamp gets the
 * effect `harm`, or when it starts.
 */
export function faultyPlugin(id: string, { code, limits }: FaultKind, when: "call" | "start") {
  const kind = id.replaceAll("-", "");
  const mantel = {
    id,
    kinds: ["bridge"],
    server: "index.ts",
    bridge: { kind, commandsPerSecond: 1_000, confirmMs: 3_000 },
    permissions: { childProcesses: true },
    limits: { startMs: START_MS, ...limits },
  };
  const source = `
import { definePlugin } from "@mantel/plugin-sdk";
import { execSync, spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
const used = { closeSync, execSync, spawn, openSync, writeFileSync, writeSync };
const hold: unknown[] = [];
const harm = async (ctx: any) => { ${code} };
export default definePlugin({
  async start(ctx) {
    ${when === "start" ? "await harm(ctx);" : ""}
    await ctx.devices.publish([{
      nativeId: "lamp", kind: "light", name: "Lamp", state: { on: false },
      capabilities: { on: { type: "boolean" }, effect: { type: "choice", values: ["none", "harm"] } },
    }]);
    return {
      async command(nativeId, command) {
        if (command["effect"] === "harm") await harm(ctx);
        ctx.devices.update({ nativeId, state: command });
      },
    };
  },
});
`;
  return {
    "package.json": JSON.stringify({ name: `@test/${id}`, type: "module", mantel }),
    "index.ts": source,
  };
}

/** A fault's name as an id of a plugin. */
export function idOf({ name }: FaultKind): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

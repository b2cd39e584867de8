/** A kind of plugin fault and the expected reaction of the host. */
export interface FaultKind {
  readonly name: string;
  /** The body of an async function with the parameter `ctx`. `hold` is a global list. */
  readonly code: string;
  /** The expected message in the module's error. */
  readonly cause: RegExp;
  /** The limits in the manifest. By default a start may take 30 seconds. */
  readonly limits?: object;
}

/** Time limit for filling a heap, long enough for a busy machine. */
const START_MS = 30_000;
/** Fills the heap in one synchronous loop. `item` is the expression for each new value. */
const filling = (item: string) => `for (let n = 0; ; n++) hold.push(${item});`;
/** The kernel's limit may apply before the host's. */
const OVER_MEMORY =
  /memory limit exceeded: it used \d+ MiB of 192 MiB|used more memory than its limit/;
/** On a busy machine a process that hardly got CPU time has no known cause. */
const HUNG = /did not answer for \d+ ms($| and used \d+ ms of CPU)/;
/** On a busy machine the heartbeat may time out before the heap is full. */
const FULL = /heap (was|is) full|did not answer for \d+ ms($| and used)/;
const ASLEEP = /did not answer for \d+ ms, asleep/;
const TOO_LATE = { cause: /start timed out/, limits: { startMs: 4_000 } };
/** On a busy machine unread messages fill the heap of the plugin before they are counted. */
const FLOOD = /message rate limit exceeded|heap (was|is) full/;
const FOREIGN = /invalid message/;

/** Faults of a running plugin: its process is ended and restarted. */
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
    name: "blocking read of a pipe",
    code: `execSync("rm -f pipe; mkfifo pipe"); readFileSync("pipe");`,
    cause: ASLEEP,
  },
  {
    name: "blocking calls in a loop",
    code: `for (;;) execSync("sleep 0.3");`,
    cause: ASLEEP,
  },
  {
    name: "unhandled rejection",
    code: `void Promise.reject(new Error("alone"));`,
    cause: /an unhandled rejection: Error: alone/,
  },
  {
    name: "rejection with a text",
    code: `void Promise.reject("alone");`,
    cause: /an unhandled rejection: .*alone/,
  },
  {
    name: "throw in a timer",
    code: `setTimeout(() => { throw new TypeError("late"); });`,
    cause: /an uncaught error: TypeError: late/,
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
    cause: OVER_MEMORY,
  },
  {
    name: "CPU burnt in slices",
    code: "const burn = () => { for (const until = Date.now() + 50; Date.now() < until; ); setImmediate(burn); }; burn();",
    limits: { cpuPercent: 6 },
    cause: /used \S+ s of CPU time within 30 s, and 6 % \(1.8 s\) is its limit/,
  },
  { name: "exit", code: "process.exit(3);", cause: /exited with code 3/ },
  { name: "exit without a fault", code: "process.exit(0);", cause: /exited with code 0/ },
  { name: "abort", code: "process.abort();", cause: /aborted/ },
  ...(["SIGTERM", "SIGKILL", "SIGHUP"] as const).map((signal) => ({
    name: `${signal} to itself`,
    code: `process.kill(process.pid, "${signal}");`,
    cause: new RegExp(`killed by ${signal}`),
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
    cause: /had \d+ processes, and 64 are allowed/,
  },
  {
    name: "descriptor exhaustion",
    code: `writeFileSync("file", ""); setInterval(() => { for (let n = 0; n < 500; n++) openSync("file"); }, 10);`,
    cause: /more than 4096 files and sockets open/,
  },
  {
    name: "flood of messages",
    code: "const go = () => { for (let n = 0; n < 100; n++) ctx.status.degraded(String(n)); setImmediate(go); }; go();",
    cause: FLOOD,
  },
  {
    name: "flood of calls",
    code: "const go = () => { for (let n = 0; n < 100; n++) void ctx.devices.publish([]).catch(() => 0); setImmediate(go); }; go();",
    cause: FLOOD,
  },
  {
    name: "flood of large messages",
    code: `const lamp = { kind: "light", name: "x".repeat(200), capabilities: { on: { type: "boolean" } }, state: { on: true } };
      const lamps = Array.from({ length: 2_000 }, (_, n) => ({ ...lamp, nativeId: "lamp" + n }));
      setInterval(() => void ctx.devices.publish(lamps).catch(() => 0), 20);`,
    cause: /message rate limit exceeded|did not answer/, // its heartbeat answers wait behind the messages
    limits: { memoryMiB: 256 }, // unread messages wait in the plugin's heap
  },
  {
    name: "message of 100 MB",
    code: "const part = Buffer.alloc(65_536, 97); for (let left = 1_600; left > 0;) { try { writeSync(3, part); left--; } catch { /* full */ } }",
    cause: /message larger than 8 MiB|did not answer/, // it writes to the full pipe in a loop
  },
  { name: "closed channel", code: "closeSync(3);", cause: /closed its channel to the host/ },
  { name: "no message", code: String.raw`writeSync(3, "hello\n");`, cause: FOREIGN },
  {
    name: "forged failure",
    code: String.raw`for (let call = 0; call < 5_000; call++) { try { writeSync(3, JSON.stringify({ kind: "failure", call }) + "\n"); } catch { call--; } }`,
    cause: FOREIGN,
  },
];

/** Work that a plugin does all the time, in slices: its process is healthy, also on a busy machine. */
export const HEALTHY: readonly Pick<FaultKind, "name" | "code">[] = [
  { name: "idle", code: "" },
  {
    name: "slices of work",
    code: "setInterval(() => { for (const until = process.cpuUsage().user + 5_000; process.cpuUsage().user < until; ); }, 200);",
  },
  {
    name: "garbage",
    code: "let kept: unknown[] = []; setInterval(() => { for (let n = 0; n < 10_000; n++) kept.push({ n }); if (kept.length > 100_000) kept = []; }, 200);",
  },
  {
    name: "short programs",
    code: `setInterval(() => execSync("true"), 5_000);`,
  },
  {
    name: "files",
    code: `setInterval(() => writeFileSync("file", "x".repeat(100_000)), 500);`,
  },
];

/** Faults during the start: the module fails with a reason. */
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
  { name: "exit at start", code: "process.exit(4);", cause: /exited with code 4/ },
  { name: "array at start", code: filling("new Array(1000).fill(n)"), cause: FULL },
  {
    name: "map at start",
    code: "const map = new Map(); for (let n = 0; ; n++) map.set(n, { n });",
    cause: FULL,
  },
  {
    name: "buffers at start",
    code: "setInterval(() => hold.push(Buffer.alloc(16 * 2 ** 20, 1)), 5); await new Promise(() => undefined);",
    cause: OVER_MEMORY,
  },
  {
    name: "flood at start",
    code: "const go = () => { for (let n = 0; n < 100; n++) ctx.status.degraded(String(n)); setImmediate(go); }; go(); await new Promise(() => undefined);",
    cause: FLOOD,
  },
];

/**
 * The files of a bridge with one lamp, `<kind>:light:1`. The fault occurs when the lamp gets the effect `harm`, or at
 * the start.
 */
export function faultyPlugin(
  id: string,
  { code, limits }: Pick<FaultKind, "code" | "limits">,
  when: "call" | "start",
) {
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
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
const used = { closeSync, execSync, spawn, openSync, readFileSync, writeFileSync, writeSync };
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

/** Converts a fault's name to a plugin id. */
export function idOf({ name }: Pick<FaultKind, "name">): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

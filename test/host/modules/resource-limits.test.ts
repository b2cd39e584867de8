import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { PluginProcess } from "../../../host/modules/process/plugin-process.ts";
import { CpuUse, watchResourceLimits } from "../../../host/modules/process/resource-limits.ts";
import { fakeSystemFiles } from "../../helpers/system-files.ts";

test("CPU time counts from the first measurement and within the window", () => {
  const use = new CpuUse(30_000);

  const used = [0, 10_000, 30_000, 40_000, 50_000].map((at) => use.add(500 + at / 2, at));

  assert.deepEqual(used, [0, 5_000, 15_000, 15_000, 10_000]);
});

test("a burst counts immediately and expires with its window", () => {
  const use = new CpuUse(30_000);
  const usedMs = (at: number) => Math.min(10_000, Math.max(0, at - 30_000));

  const used = new Map<number, number>();
  for (let at = 0; at <= 80_000; at += 250) used.set(at, use.add(usedMs(at), at));

  assert.equal(used.get(30_000), 0);
  assert.equal(used.get(35_000), 5_000);
  assert.equal(used.get(45_000), 10_000);
  assert.equal(used.get(80_000), 0);
});

/** The mocked timers and the mocked clock move on together in steps of this length. */
const STEP_MS = 50;

/** A watched process with the id 7, of whose use of the system the test tells. Time is the test's. */
async function openWatched(t: TestContext, { memoryMiB = 64, cpuPercent = 50 } = {}) {
  const { write, remove } = await fakeSystemFiles(t, "/proc", {});
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const ends: string[] = [];
  let exit = (): void => undefined;
  const generation = {
    pid: 7,
    settings: { memoryMiB, cpuPercent },
    exited: new Promise<void>((resolve) => (exit = resolve)),
    end: async (cause: string) => void ends.push(cause),
  };
  const writeStat = (pid: number, cpuMs: number, group: number) =>
    write(`${pid}/stat`, `${pid} (x) S 1 ${group} 5 0 -1 0 0 0 0 0 ${cpuMs / 10} 0 0 0 20 0 1\n`);
  const tell = ({ cpuMs = 0, usedMiB = 0, descriptors = 64, threads = 1, group = 7 }) => {
    writeStat(7, cpuMs, group);
    write("7/status", `FDSize:\t${descriptors}\nRssAnon:\t${usedMiB * 1024} kB\n`);
    write("loadavg", `0.5 0.4 0.4 2/${threads} 99\n`);
  };
  const pass = (ms: number) => {
    for (let left = ms; left > 0; left -= STEP_MS) {
      now += Math.min(left, STEP_MS);
      t.mock.timers.tick(Math.min(left, STEP_MS));
    }
  };
  /** Adds processes with these ids. */
  const addProcesses = (from: number, count: number, { group = 7, namespace = "" } = {}) => {
    for (let pid = from; pid < from + count; pid++) {
      writeStat(pid, 0, group);
      if (namespace) write(`${pid}/ns/pid`, { link: namespace });
    }
  };
  tell({});
  watchResourceLimits(generation as unknown as PluginProcess);
  t.after(() => exit());
  return { tell, pass, ends, exit, addProcesses, write, remove };
}

test("a process within its limits keeps running", async (t) => {
  const { tell, pass, ends, addProcesses } = await openWatched(t);
  pass(250);
  addProcesses(8, 63);

  tell({ usedMiB: 64 + 128, descriptors: 4_096, cpuMs: 15_000, threads: 100 });
  pass(250);

  assert.deepEqual(ends, []);
});

test("more private memory than the heap and 128 MiB is too much", async (t) => {
  const { tell, pass, ends } = await openWatched(t);

  tell({ usedMiB: 193 });
  pass(249);
  assert.deepEqual(ends, []);
  pass(1);

  assert.deepEqual(ends, [
    'memory limit exceeded: it used 193 MiB of 192 MiB; look for buffers that it keeps, or raise "limits.memoryMiB"',
  ]);
});

test("a process that has not run since the last look is not looked at more closely", async (t) => {
  const { tell, pass, ends } = await openWatched(t);
  tell({ cpuMs: 10 });
  pass(250);

  tell({ cpuMs: 10, usedMiB: 193 });
  pass(250);
  assert.deepEqual(ends, []);
  tell({ cpuMs: 20, usedMiB: 193 });
  pass(250);

  assert.equal(ends.length, 1);
});

test("more than 4,096 files and sockets are too many", async (t) => {
  const { tell, pass, ends } = await openWatched(t);

  tell({ descriptors: 8_192 });
  pass(250);

  assert.deepEqual(ends, ["it had more than 4096 files and sockets open: close what it opens"]);
});

test("a process that used up the CPU time of half a minute is stopped before that ends", async (t) => {
  const { tell, pass, ends } = await openWatched(t);
  pass(250);

  tell({ cpuMs: 15_050 });
  pass(9_750);

  assert.deepEqual(ends.slice(0, 1), [
    'CPU limit exceeded: it used 15.1 s of CPU time within 30 s, and 50 % (15 s) is its limit; let it do less, or raise "limits.cpuPercent"',
  ]);
});

test("CPU time before the last half minute does not count", async (t) => {
  const { tell, pass, ends } = await openWatched(t);
  pass(250);
  tell({ cpuMs: 14_000 });
  pass(15_000);
  pass(30_250);

  tell({ cpuMs: 28_000 });
  pass(250);

  assert.deepEqual(ends, []);
});

const TOO_MANY = (count: number) =>
  `process limit exceeded: it had ${count} processes, and 64 are allowed; look for a fork bomb`;

test("more than 64 processes of a group are too many, and those of others do not count", async (t) => {
  const { tell, pass, ends, addProcesses } = await openWatched(t);
  pass(250);
  addProcesses(100, 64);
  addProcesses(300, 10, { group: 8 });

  tell({ threads: 34 });
  pass(250);

  assert.deepEqual(ends, [TOO_MANY(65)]);
});

test("in a sandbox, all its processes count, also those of other groups", async (t) => {
  const { tell, pass, ends, addProcesses, write } = await openWatched(t);
  write("7/ns/pid", { link: "pid:[5]" });
  pass(250);
  addProcesses(100, 64, { group: 8, namespace: "pid:[5]" });
  addProcesses(300, 80, { group: 7, namespace: "pid:[6]" });

  tell({ threads: 200 });
  pass(250);

  assert.deepEqual(ends, [TOO_MANY(65)]);
});

test("processes are counted only when the system has 32 more threads, because counting is expensive", async (t) => {
  const { tell, pass, ends, addProcesses } = await openWatched(t);
  pass(250);
  addProcesses(100, 64);
  tell({ threads: 33 });
  pass(250);
  assert.deepEqual(ends, []);

  tell({ threads: 34 });
  pass(250);

  assert.equal(ends.length, 1);
});

test("growth counts from the fewest threads that the system has had since", async (t) => {
  const { tell, pass, ends, addProcesses } = await openWatched(t);
  tell({ threads: 100 });
  pass(250);
  tell({ threads: 40 });
  pass(250);
  addProcesses(100, 64);

  tell({ threads: 80 });
  pass(250);

  assert.deepEqual(ends, [TOO_MANY(65)]);
});

test("a process that gets the number of an ended sandbox is not killed for the processes of that one", async (t) => {
  const { tell, pass, ends, addProcesses, write, remove } = await openWatched(t);
  write("7/ns/pid", { link: "pid:[5]" });
  pass(250);
  addProcesses(100, 64, { group: 8, namespace: "pid:[5]" });
  tell({ threads: 200 });
  pass(250);
  assert.deepEqual(ends, [TOO_MANY(65)]);

  for (let pid = 100; pid < 164; pid++) remove(String(pid));
  tell({ threads: 100 });
  pass(250);

  assert.deepEqual(ends, [TOO_MANY(65)]);
});

test("the kernel's own threads, of which group 0 consists, are not a process's", async (t) => {
  const { tell, pass, ends, addProcesses } = await openWatched(t);
  tell({ group: 0 });
  pass(250);
  addProcesses(100, 80, { group: 0 });

  tell({ group: 0, threads: 100 });
  pass(250);

  assert.deepEqual(ends, []);
});

test("a process that has ended is not watched any more", async (t) => {
  const { tell, pass, ends, exit } = await openWatched(t);

  exit();
  await Promise.resolve();
  tell({ usedMiB: 500 });
  pass(10_000);

  assert.deepEqual(ends, []);
});

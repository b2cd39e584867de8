import assert from "node:assert/strict";
import { test } from "node:test";
import { findHang } from "../../../host/modules/process/monitor/hang.ts";
import { exampleOf } from "../../../host/modules/process/monitor/system-calls.ts";
import {
  type ProcessSample,
  sampleProcess,
  type ThreadSample,
} from "../../../host/modules/process/monitor/threads.ts";
import recorded from "../../fixtures/process-samples.json" with { type: "json" };
import { fakeSystemFiles } from "../../helpers/system-files.ts";

const CPUS = 4;

/** Recorded samples of a real process: `at syscall runnable | main | other threads | children`. */
function samplesOf(name: keyof typeof recorded): ProcessSample[] {
  return recorded[name].map((line) => {
    const [head = "", main = "", threads = "", children = ""] = line.split(" | ");
    const [at, syscall, runnable] = head.split(" ").map(Number);
    return {
      at: at ?? 0,
      syscall: Number.isNaN(syscall) ? undefined : syscall,
      runnable: runnable ?? 0,
      main: thread(main.split(" ")),
      threads: threadsOf(threads),
      children: threadsOf(children),
    };
  });
}

function threadsOf(text: string): Map<number, ThreadSample> {
  const lines = text.split(", ").filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [id, ...rest] = line.split(" ");
      return [Number(id), thread(rest)];
    }),
  );
}

function thread([state = "", ranMs, waitedMs]: readonly string[]): ThreadSample {
  return { state, ranMs: Number(ranMs), waitedMs: Number(waitedMs) };
}

/** The first finding while samples are taken, and the time of silence until then. */
function found(samples: readonly ProcessSample[]) {
  for (let count = 1; count <= samples.length; count++) {
    const hang = findHang(samples.slice(0, count), CPUS);
    if (hang) return { ...hang, ms: (samples[count - 1]?.at ?? 0) - (samples[0]?.at ?? 0) };
  }
  return undefined;
}

for (const name of [
  "healthy, without a CPU",
  "healthy, with a CPU for a moment each second",
] as const) {
  test(`a process is late and not hung: ${name}`, () => {
    assert.equal(found(samplesOf(name)), undefined);
  });
}

for (const [name, isAsleep, atMostMs] of [
  ["loop", false, 2_300],
  ["execSync", true, 2_300],
  ["execSync of a loop", true, 2_300],
  ["Atomics.wait", true, 1_010],
  ["short calls", true, 1_300],
  ["pipe", true, 1_010],
  ["loop, on a busy machine", false, 4_100],
  ["execSync, on a busy machine", true, 2_300],
  ["execSync of a loop, on a busy machine", true, 4_100],
  ["Atomics.wait, on a busy machine", true, 2_300],
] as const) {
  test(`a process hangs, recorded: ${name}`, () => {
    const hang = found(samplesOf(name));

    assert.equal(hang?.isAsleep, isAsleep);
    assert.ok(hang.ms <= atMostMs, `found after ${hang.ms} ms`);
  });
}

test("the system call in which a process sleeps names a function that may block it", () => {
  const calls = (["execSync", "Atomics.wait", "pipe"] as const).map((name) =>
    exampleOf(found(samplesOf(name))?.syscall, "x64"),
  );

  assert.deepEqual(calls, ["execSync", "Atomics.wait", "readFileSync of a pipe"]);
  assert.equal(exampleOf(98, "arm64"), "Atomics.wait");
  assert.equal(exampleOf(98, "mips"), "execSync");
  assert.equal(exampleOf(undefined, "x64"), "execSync");
});

const IDLE: ThreadSample = { state: "S", ranMs: 100, waitedMs: 0 };
const idleAt = (at: number, changes: Partial<ProcessSample> = {}): ProcessSample => ({
  at,
  main: IDLE,
  threads: new Map([[8, IDLE]]),
  children: new Map([[9, IDLE]]),
  syscall: undefined,
  runnable: 1,
  ...changes,
});

test("a single sample does not show that a process hangs", () => {
  assert.equal(findHang([], CPUS), undefined);
  assert.equal(findHang([idleAt(0)], CPUS), undefined);
});

test("a process that sleeps hangs after a second, and on a machine with too few CPUs after two", () => {
  const busy = { runnable: CPUS + 1 };

  assert.equal(findHang([idleAt(0), idleAt(999)], CPUS), undefined);
  assert.equal(findHang([idleAt(0), idleAt(1_000)], CPUS)?.isAsleep, true);
  assert.equal(findHang([idleAt(0, busy), idleAt(1_999)], CPUS), undefined);
  assert.equal(findHang([idleAt(0, busy), idleAt(2_000)], CPUS)?.isAsleep, true);
});

for (const [what, relatives] of [
  ["thread", "threads"],
  ["child process", "children"],
] as const) {
  test(`a process that sleeps until a ${what} gets a CPU is late`, () => {
    const waits = { [relatives]: new Map([[8, { ...IDLE, state: "R" }]]) };
    const waited = { [relatives]: new Map([[8, { ...IDLE, waitedMs: 900 }]]) };
    const start = idleAt(0, { [relatives]: new Map([[8, IDLE]]) });

    assert.equal(findHang([start, idleAt(5_000, waits)], CPUS), undefined);
    assert.equal(findHang([start, idleAt(1_500, waited)], CPUS), undefined);
  });
}

test("a process that slept and is awake now may be about to answer", () => {
  const awake = { main: { ...IDLE, state: "R", ranMs: 101 } };

  assert.equal(findHang([idleAt(0), idleAt(1_200), idleAt(1_201, awake)], CPUS), undefined);
});

test("a sample has the main thread, other threads, children, the system call and the load of the machine", async (t) => {
  const stat = (id: number, state: string) =>
    `${id} (a) b) ${state} 1 7 5 0 -1 0 0 0 0 0 12 3 0 0 20 0 1 0\n`;
  await fakeSystemFiles(t, "/proc", {
    loadavg: "1.00 2.00 3.00 9/345 17\n",
    "7/syscall": "202 0x0 0x1\n",
    "7/task/7/children": "9 \n",
    "7/task/7/stat": stat(7, "S"),
    "7/task/7/schedstat": "2500000 500000 3\n",
    "7/task/8/stat": stat(8, "R"),
    "9/stat": stat(9, "D"),
    "9/schedstat": "0 0 0\n",
  });

  assert.deepEqual(sampleProcess(7, 5), {
    at: 5,
    main: { state: "S", ranMs: 2.5, waitedMs: 0.5 },
    threads: new Map([[8, { state: "R", ranMs: 150, waitedMs: 0 }]]),
    children: new Map([[9, { state: "D", ranMs: 150, waitedMs: 0 }]]),
    syscall: 202,
    runnable: 9,
  });
});

test("a process that has ended, or a system without /proc, gives an empty sample", async (t) => {
  await fakeSystemFiles(t, "/proc", {});

  assert.deepEqual(sampleProcess(7, 5), {
    at: 5,
    main: { state: "", ranMs: 0, waitedMs: 0 },
    threads: new Map(),
    children: new Map(),
    syscall: undefined,
    runnable: 0,
  });
});

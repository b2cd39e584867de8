import assert from "node:assert/strict";
import fs from "node:fs";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Heartbeat, type ResourceUsage } from "../../../host/modules/process/heartbeat.ts";
import { checkAlive } from "../../../host/modules/process/monitor/liveness.ts";
import type { PluginProcess } from "../../../host/modules/process/plugin-process.ts";
import { showToImports } from "../../helpers/mocked-imports.ts";
import { fakeSystemFiles } from "../../helpers/system-files.ts";

const FIGURES = { cpuMicros: 1_000_000, heapBytes: 5, loopLagP99Ms: 1.26, mayRest: false };

/** A process that is this one and answers what the test says, and its heartbeat. Time is the test's. */
function openProcess(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const ends: unknown[][] = [];
  const parts = { answer: (): unknown => FIGURES, pings: 0 };
  const generation = {
    pid: process.pid,
    isFlooding: false,
    hasUnread: false,
    isPrinting: false,
    inspectPort: undefined as number | undefined,
    settings: { memoryMiB: 2 ** 20 },
    peer: {
      call: async (..._call: unknown[]): Promise<unknown> => {
        parts.pings++;
        return parts.answer();
      },
    },
    end: async (...how: unknown[]) => void ends.push(how),
  };
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 3; turn++) await setImmediate();
  };
  return { generation, process: generation as unknown as PluginProcess, parts, ends, pass };
}
const silent = () => new Promise(() => undefined);

test("the heartbeat asks twice a second and reports resource usage", async (t) => {
  const { process: asked, parts, pass } = openProcess(t);
  const figures: ResourceUsage[] = [];
  const heartbeat = new Heartbeat(asked, (each) => figures.push(each));

  await pass(499);
  assert.equal(parts.pings, 0);
  await pass(1);
  parts.answer = () => ({ ...FIGURES, cpuMicros: 1_250_000 });
  await pass(500);
  heartbeat.stop();
  await pass(5_000);

  assert.equal(parts.pings, 2);
  const [first, second] = figures;
  assert.equal(first?.cpuPercent, 0);
  assert.deepEqual([second?.cpuPercent, second?.heapBytes, second?.loopLagP99Ms], [50, 5, 1.3]);
  assert.ok((second?.memoryBytes ?? 0) > 2 ** 20);
  assert.deepEqual([second?.storageBytes, second?.storageWarning], [null, undefined]);
});

test("an answer that arrives after the heartbeat stopped is ignored", async (t) => {
  const { process: asked, parts, pass } = openProcess(t);
  const figures: unknown[] = [];
  let answer = (_figures: unknown): void => undefined;
  parts.answer = () => new Promise((resolve) => (answer = resolve));
  const heartbeat = new Heartbeat(asked, (each) => figures.push(each));
  await pass(500);

  heartbeat.stop();
  answer(FIGURES);
  await pass(500);

  assert.deepEqual([figures, parts.pings], [[], 1]);
});

test("a process that keeps sending invalid usage figures is killed, and the fault counts from its last valid answer", async (t) => {
  const { process: asked, parts, ends, pass } = openProcess(t);
  const figures: unknown[] = [];
  const heartbeat = new Heartbeat(asked, (each) => figures.push(each));
  await pass(500);
  parts.answer = () => ({ ...FIGURES, heapBytes: "many" });

  await pass(500);
  await pass(5_000);
  heartbeat.stop();

  assert.deepEqual(ends, [["it sent invalid usage figures", 500]]);
  assert.equal(figures.length, 1);
});

test("a process whose answer fails is silent", async (t) => {
  const { process: asked, parts } = openProcess(t);
  parts.answer = () => {
    throw new Error("it was late");
  };

  assert.deepEqual(await checkAlive(asked), { silence: "it did not answer for 0 ms" });
});

/** The finding of a check when a process is silent for `ms`, or `"waits"`. `sampled` is called after the first sample. */
async function checkedFor(
  { process: asked, pass }: ReturnType<typeof openProcess>,
  ms: number,
  sampled = (): void => undefined,
): Promise<unknown> {
  let found: unknown = "waits";
  void checkAlive(asked).then((result) => (found = result));
  await setImmediate();
  await pass(50);
  sampled();
  for (let passed = 50; passed < ms; passed += 50) await pass(50);
  return found;
}

const SILENCES = [
  [
    "sends more than the host reads",
    { isFlooding: true },
    /^it did not answer for 1100 ms: .*message/,
  ],
  [
    "prints more than the host reads",
    { isPrinting: true },
    /^it did not answer for 1100 ms: it waits for the host to read its output; print less$/,
  ],
] as const;

for (const [what, state, silence] of SILENCES) {
  test(`a silent process that ${what} hangs, with that as its cause`, async (t) => {
    const opened = openProcess(t);
    opened.parts.answer = silent;
    Object.assign(opened.generation, state);

    const early = await checkedFor(opened, 1_050);
    const found = (await checkedFor(opened, 1_100)) as { silence: string };

    assert.equal(early, "waits");
    assert.match(found.silence, silence);
  });
}

test("a silent process with unread messages is late and not hung", async (t) => {
  const opened = openProcess(t);
  opened.parts.answer = silent;
  Object.assign(opened.generation, { hasUnread: true, isPrinting: true });

  assert.equal(await checkedFor(opened, 4_000), "waits");
});

test("a silent process under a debugger may be paused, and is left alone", async (t) => {
  const opened = openProcess(t);
  opened.parts.answer = silent;
  Object.assign(opened.generation, { inspectPort: 9_229, isPrinting: true });

  assert.deepEqual(await checkedFor(opened, 1_100), {});
});

test("a process that answers within 50 ms is not looked at", async (t) => {
  const listed: unknown[] = [];
  const { readdirSync } = fs;
  const opened = openProcess(t);
  const list = t.mock.method(fs, "readdirSync", ((path: string) => {
    listed.push(path);
    return readdirSync(path);
  }) as never);
  showToImports(t, () => list.mock.restore());

  assert.deepEqual(await checkedFor(opened, 50), { figures: FIGURES });
  assert.deepEqual(listed, []);
  opened.parts.answer = silent;
  await checkedFor(opened, 50);
  assert.deepEqual(listed, [`/proc/${process.pid}/task`]);
});

test("an answer that arrives late counts", async (t) => {
  const opened = openProcess(t);
  let answer = (_figures: unknown): void => undefined;
  opened.parts.answer = () => new Promise((resolve) => (answer = resolve));
  Object.assign(opened.generation, { hasUnread: true });
  let found: unknown;
  void checkAlive(opened.process).then((result) => (found = result));

  for (let passed = 0; passed < 3_000; passed += 50) await opened.pass(50);
  answer(FIGURES);
  await opened.pass(50);

  assert.deepEqual(found, { figures: FIGURES });
});

/** A process of the system that is silent, and its use of CPU time and memory as the kernel tells it. */
async function openSilent(t: TestContext, { memoryMiB = 100 } = {}) {
  const { write } = await fakeSystemFiles(t, "/proc", {});
  const opened = openProcess(t);
  opened.parts.answer = silent;
  Object.assign(opened.generation, { pid: 7, settings: { memoryMiB } });
  const tell = (state: string, cpuMs: number, { usedMiB = 0, waitedMs = 0 } = {}) => {
    for (const folder of ["7", "7/task/7"]) {
      write(
        `${folder}/stat`,
        `7 (node) ${state} 1 7 5 0 -1 0 0 0 0 0 ${cpuMs / 10} 0 0 0 20 0 1 0\n`,
      );
    }
    write("7/task/7/schedstat", `${1e6 * (1 + cpuMs)} ${1e6 * waitedMs} 5\n`);
    write("7/status", `FDSize:\t64\nRssAnon:\t${usedMiB * 1024} kB\n`);
  };
  tell("S", 0);
  return { ...opened, tell };
}

const ASLEEP = ", asleep: a synchronous call such as execSync blocks it; use the asynchronous one";
const LOOP = ": look for an endless loop, regular expression or chain of promises";
const COLLECTS =
  ': its heap is full and it only collects garbage; keep less in memory, or raise "limits.memoryMiB"';

for (const [what, [state, cpuMs, usedMiB], cause] of [
  ["is stopped by a signal", ["T", 0, 0], ": a signal (SIGSTOP) has stopped it"],
  ["sleeps", ["S", 0, 0], ASLEEP],
  ["sleeps and used just less than half of the time", ["S", 490, 0], ASLEEP],
  ["used all of the time", ["R", 1_050, 0], ` and used 1050 ms of CPU${LOOP}`],
  ["collects garbage in a full heap", ["R", 1_050, 91], COLLECTS],
  ["has a full heap and sleeps while other threads collect garbage", ["S", 110, 91], COLLECTS],
] as const) {
  test(`a process that ${what} and is silent for a second hangs, with that as its cause`, async (t) => {
    const opened = await openSilent(t);
    let found: unknown = "waits";
    void checkAlive(opened.process).then((result) => (found = result));
    await setImmediate();
    await opened.pass(50);
    opened.tell(state, cpuMs, { usedMiB });

    for (let passed = 0; passed < 1_000; passed += 50) await opened.pass(50);
    assert.equal(found, "waits");
    await opened.pass(50);

    assert.deepEqual(found, { silence: `it did not answer for 1100 ms${cause}` });
  });
}

for (const [what, [state, cpuMs, { usedMiB = 0, waitedMs = 0 }]] of [
  ["runs, or waits for a CPU", ["R", 0, {}]],
  ["waits for a disk", ["D", 0, {}]],
  ["waited for a CPU and sleeps now", ["S", 0, { waitedMs: 1_000 }]],
  ["used less than its second, and waited for a CPU in between", ["R", 990, {}]],
  ["has a full heap, and waits for a CPU", ["R", 490, { usedMiB: 91 }]],
] as const) {
  test(`a silent process that ${what} is late and not hung`, async (t) => {
    const opened = await openSilent(t);
    const tell = () => opened.tell(state, cpuMs, { usedMiB, waitedMs });

    assert.equal(await checkedFor(opened, 1_100, tell), "waits");
  });
}

test("a process that waits for a CPU for a minute is late and not hung", async (t) => {
  const opened = await openSilent(t);
  assert.equal(await checkedFor(opened, 60_000, () => opened.tell("R", 0)), "waits");
});

test("without /proc a process is silent for five seconds before it counts as hung", async (t) => {
  const opened = await openSilent(t);
  Object.assign(opened.generation, { pid: 8 });

  const found = (await checkedFor(opened, 6_000)) as { silence: string };

  assert.match(found.silence, /^it did not answer for 5\d\d\d ms$/);
});

test("a silent process is looked at again every 300 ms, and hangs once it had a second of its own", async (t) => {
  const opened = await openSilent(t);
  let found: unknown = "waits";
  void checkAlive(opened.process).then((result) => (found = result));
  await setImmediate();
  await opened.pass(50);
  opened.tell("R", 800);
  for (let passed = 0; passed < 1_250; passed += 50) await opened.pass(50);
  assert.equal(found, "waits");

  opened.tell("S", 820); // 20 ms within the last 300 ms

  await opened.pass(50);
  await opened.pass(50);
  assert.deepEqual(found, {
    silence: `it did not answer for 1400 ms and used 820 ms of CPU${LOOP}`,
  });
});

test("CPU time that a process used before it was asked does not count", async (t) => {
  const opened = await openSilent(t);
  opened.tell("S", 60_000);

  assert.deepEqual(await checkedFor(opened, 1_100), {
    silence: `it did not answer for 1100 ms${ASLEEP}`,
  });
});

test("a silent process is killed, and the fault counts from its last answer", async (t) => {
  const opened = await openSilent(t);
  const heartbeat = new Heartbeat(opened.process, () => undefined);
  opened.parts.answer = () => FIGURES;
  await opened.pass(500);
  opened.parts.answer = silent;

  for (let passed = 0; passed < 1_600; passed += 50) await opened.pass(50);
  heartbeat.stop();

  assert.deepEqual(opened.ends, [[`it did not answer for 1100 ms${ASLEEP}`, 500]]);
  assert.equal(opened.parts.pings, 2);
});

test("a heartbeat that stops while a process is silent kills nothing", async (t) => {
  const opened = await openSilent(t);
  const heartbeat = new Heartbeat(opened.process, () => undefined);
  await opened.pass(500);

  heartbeat.stop();
  for (let passed = 0; passed < 1_600; passed += 50) await opened.pass(50);

  assert.deepEqual([opened.ends, opened.parts.pings], [[], 1]);
});

test("a sign of life is waited for ten minutes at most", async (t) => {
  const { process: asked, generation } = openProcess(t);
  const calls: unknown[][] = [];
  generation.peer.call = async (...call: unknown[]) => (calls.push(call), FIGURES);

  assert.deepEqual(await checkAlive(asked), { figures: FIGURES });

  assert.deepEqual(calls, [["ping", {}, 600_000]]);
});

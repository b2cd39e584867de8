import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  checkAlive,
  Heartbeat,
  type ResourceUsage,
} from "../../../host/modules/process/heartbeat.ts";
import type { PluginProcess } from "../../../host/modules/process/plugin-process.ts";

const FIGURES = { cpuMicros: 1_000_000, heapBytes: 5, loopLagP99Ms: 1.26 };

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
      call: async () => {
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

test("a process whose answer fails for five seconds is silent", async (t) => {
  const { process: asked, parts } = openProcess(t);
  parts.answer = () => {
    throw new Error("it was late");
  };

  assert.deepEqual(await checkAlive(asked), { silence: "it did not answer for 5000 ms" });
});

/** What a check finds when a process is silent for `ms`, or `"waits"`. */
async function checkedFor(
  { process: asked, pass }: ReturnType<typeof openProcess>,
  ms: number,
): Promise<unknown> {
  let found: unknown = "waits";
  void checkAlive(asked).then((result) => (found = result));
  await setImmediate();
  for (let passed = 0; passed < ms; passed += 50) await pass(50);
  return found;
}

const SILENCES = [
  [
    "sends more than the host reads",
    { isFlooding: true },
    /^it did not answer for 1050 ms: .*message/,
  ],
  [
    "prints more than the host reads",
    { isPrinting: true },
    /^it did not answer for 1050 ms: it waits for the host to read its output; print less$/,
  ],
] as const;

for (const [what, state, silence] of SILENCES) {
  test(`a silent process that ${what} hangs, with that as its cause`, async (t) => {
    const opened = openProcess(t);
    opened.parts.answer = silent;
    Object.assign(opened.generation, state);

    const early = await checkedFor(opened, 1_000);
    const found = (await checkedFor(opened, 1_050)) as { silence: string };

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

  assert.deepEqual(await checkedFor(opened, 1_050), {});
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

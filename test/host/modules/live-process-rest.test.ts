import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { COMMAND, failing, stage } from "./staged-process.ts";

/** The request of the last start. */
function startOf(calls: readonly { method: string; input: unknown }[]): Record<string, unknown> {
  const start = calls.findLast(({ method }) => method === "start");
  return (start?.input ?? {}) as Record<string, unknown>;
}

test("at rest the state is kept and no process runs; the first call asks for one, and waits for it", async (t) => {
  const { live, build, steps, calls, needs, mayCall, crashes, exit } = await stage(t);
  await live.start(build("one"));
  steps.length = 0;

  await live.rest();
  await exit("one");
  assert.deepEqual(steps, ["no figures", "one quiesce", "one ends"]);
  assert.deepEqual([live.isRunning, live.isResting, mayCall("one")], [false, true, false]);
  assert.deepEqual([crashes, needs], [[], []]);
  const waiting = [live.call("command", COMMAND, 1_000), live.call("command", COMMAND, 1_000)];
  await setImmediate();
  assert.equal(needs.length, 1); // once for both
  await live.wake();
  await Promise.all(waiting);

  assert.deepEqual([live.isRunning, live.isResting], [true, false]);
  assert.equal(startOf(calls)["handedOver"], "one");
  assert.equal(live.ready(), undefined);
});

test("a call that comes while the process ends for its rest waits for the next process", async (t) => {
  const { live, build, answers, needs } = await stage(t);
  await live.start(build("one"));
  let quiesce = (): void => undefined;
  answers["one"] = {
    quiesce: () =>
      new Promise(
        (resolve) => (quiesce = () => resolve({ drained: 0, faults: [], state: "kept" })),
      ),
  };

  const resting = live.rest();
  await setImmediate();
  const waiting = live.call("command", COMMAND, 1_000);
  await setImmediate();
  quiesce();
  await resting;
  delete answers["one"];
  assert.equal(needs.length, 1);
  await live.wake();

  await waiting;
});

test("a call that waited for a reload, right after which the process rests, asks for the next process", async (t) => {
  const { live, build, needs } = await stage(t);
  await live.start(build("one"));
  live.holdCalls();
  const waiting = live.call("command", COMMAND, 1_000);
  await setImmediate();

  live.releaseCalls();
  await live.rest();
  await setImmediate();

  assert.equal(needs.length, 1);
  await live.wake();
  await waiting;
});

test("a process that cannot say its state rests without one", async (t) => {
  const { live, build, answers, calls } = await stage(t);
  await live.start(build("one"));
  answers["one"] = { quiesce: failing("no") };

  await live.rest();
  await live.wake();

  assert.equal("handedOver" in startOf(calls), false);
});

test("a process whose folders cannot be watched does not rest", async (t) => {
  const { live, build, changes, folder, needs } = await stage(t);
  await live.rest(); // nothing runs
  assert.equal(live.isResting, false);
  changes["request"] = { folders: { notes: folder, gone: "/no/such/folder" } };
  await live.start(build("one"));

  await assert.rejects(live.rest(), { code: "ENOENT" });

  assert.deepEqual([live.isRunning, live.isResting], [true, false]);
  await writeFile(join(folder, "new"), "");
  await live.call("command", COMMAND);
  assert.deepEqual(needs, []);
});

test("code that does not start after its rest has crashed", async (t) => {
  const { live, build, answers, crashes } = await stage(t);
  await live.start(build("one"));
  await live.rest();
  answers["one"] = { start: failing("not today") };

  await live.wake();

  assert.deepEqual([live.isRunning, live.isResting], [false, false]);
  assert.deepEqual(
    crashes.map(([{ message }]) => message),
    ["because not today"],
  );
});

test("new code takes the place of code that rests, on probation, with its state and no pause", async (t) => {
  const { live, build, calls, mayCall } = await stage(t);
  await live.start(build("one"));
  await live.rest();

  const { downtimeMs, drained, stateHandedOver, memory, leftOpen } = await live.replace(
    build("two"),
  );

  assert.deepEqual([downtimeMs, drained, stateHandedOver, leftOpen], [0, 0, true, []]);
  assert.equal(memory.beforeBytes, 0);
  assert.ok(memory.afterBytes > 2 ** 20);
  assert.deepEqual([live.isRunning, live.isResting, mayCall("two")], [true, false, true]);
  assert.equal(startOf(calls)["handedOver"], "one");
  const probation = live.takeProbation();
  assert.deepEqual([probation?.build.hash, probation?.state], ["one", "one"]);
  assert.equal(live.ready(), undefined);
});

test("code that rests continues to rest if new code does not start, and starts for a call that waited", async (t) => {
  const { live, build, answers, needs, mayCall, calls } = await stage(t);
  await live.start(build("one"));
  await live.rest();
  answers["two"] = { start: failing("wrong code") };

  await assert.rejects(live.replace(build("two")), { message: "because wrong code" });
  assert.deepEqual([live.isResting, mayCall("two"), needs], [true, false, []]);

  const waiting = live.call("command", COMMAND, 1_000);
  await setImmediate();
  assert.equal(needs.length, 1);
  await live.wake();
  await waiting;
  assert.equal(startOf(calls)["config"], "one");
});

test("a stop ends a rest: calls are refused, and nothing asks for a process", async (t) => {
  const { live, build, needs, folder } = await stage(t);
  await live.start(build("one"));
  await live.rest();

  await live.stop();
  await writeFile(join(folder, "new"), "");
  await assert.rejects(live.call("command", COMMAND), { code: "module_down" });
  await live.wake();

  assert.deepEqual([live.isRunning, live.isResting, needs], [false, false, []]);
});

test("a reader asks for a process only during a rest", async (t) => {
  const { live, build, needs } = await stage(t);
  await live.start(build("one"));
  assert.equal(live.keepAwake(), undefined);
  await live.rest();

  const needed = live.keepAwake();
  assert.equal(needs.length, 1);
  await live.wake();

  await needed;
});

for (const [which, inspectPort, count] of [
  ["a process that has nothing to do is idle after two minutes", undefined, 1],
  ["a process that is debugged is never idle", 9_229, 0],
] as const) {
  test(which, async (t) => {
    const { live, build, answers, changes, idle, pass } = await stage(t);
    changes["inspectPort"] = inspectPort;
    answers["one"] = {
      ping: () => ({ cpuMicros: 0, heapBytes: 5, loopLagP99Ms: 0, mayRest: true }),
    };
    await live.start(build("one"));
    const beat = async () => {
      t.mock.timers.tick(550);
      for (let turn = 0; turn < 5; turn++) await setImmediate();
    };

    await beat();
    pass(119_999);
    await beat();
    assert.deepEqual([idle.length, live.isIdle], [0, false]);
    pass(1);
    await beat();
    assert.deepEqual([idle.length, live.isIdle], [count, count === 1]);

    await live.call("command", COMMAND);
    assert.equal(live.isIdle, false); // also before it is asked again
  });
}

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import { COMMAND, failing, stage } from "./staged-process.ts";

test("a started process takes calls, and its own calls count", async (t) => {
  const { live, build, steps, mayCall, deadlineOf } = await stage(t);
  assert.equal(live.isRunning, false);

  await live.start(build("one"));
  await live.call("command", COMMAND);

  assert.deepEqual([live.isRunning, mayCall("one"), live.ready()], [true, true, undefined]);
  assert.deepEqual(steps, [
    "one loads within 10000 ms",
    "another caller",
    "one start",
    "one command",
  ]);
  assert.equal(deadlineOf("start"), 10 * 10_000); // on the clock, if it waits for a CPU
  assert.equal(deadlineOf("command"), 10_000);
  assert.deepEqual(live.counts, { calls: 1, errors: 0, drops: 0 });
});

test("a process starts with the given state and the limits of the config", async (t) => {
  const { live, build, modules, calls, deadlineOf, folder } = await stage(t);
  modules["lamp"] = { limits: { startMs: 700, callMs: 300 } };

  await live.start(build("one", { startMs: 600, callMs: 200 }), { count: 1 });
  await live.call("command", COMMAND);

  assert.deepEqual(calls[0]?.input, {
    config: "one",
    folders: { notes: folder },
    handedOver: { count: 1 },
  });
  assert.deepEqual([deadlineOf("start"), deadlineOf("command")], [10 * 700, 300]);
});

test("a process that does not start is explained, and calls to it are refused", async (t) => {
  const { live, build, answers } = await stage(t);
  answers["one"] = { start: failing("wrong code") };

  await assert.rejects(live.start(build("one")), { message: "because wrong code" });

  assert.equal(live.isRunning, false);
  await assert.rejects(live.call("command", COMMAND), { code: "module_down" });
});

test("a start ends the wait of calls", async (t) => {
  const { live, build } = await stage(t);
  live.holdCalls();
  const ready = live.ready();
  const waiting = live.call("command", COMMAND, 1_000);

  await live.start(build("one"));

  await waiting;
  await ready;
  assert.equal(live.ready(), undefined);
});

test("a replaced process hands over its state, is searched for leaks and ends", async (t) => {
  const { live, build, steps, mayCall, answers, calls } = await stage(t);
  await live.start(build("one"));
  answers["one"] = {
    findLeaks: () => [{ kind: "timer", stack: [] }],
  };
  steps.length = 0;

  const result = await live.replace(build("two"), async () => void steps.push("confirm"));

  assert.deepEqual(steps, [
    "two loads within 10000 ms",
    "confirm",
    "two connect",
    "one quiesce",
    "another caller",
    "two start",
    "one findLeaks",
    "a warm process starts",
    "one ends",
  ]);
  assert.deepEqual([mayCall("one"), mayCall("two")], [false, true]);
  assert.equal(result.drained, 2);
  assert.equal(result.stateHandedOver, true);
  assert.equal(result.downtimeMs, 0);
  assert.ok(result.memory.beforeBytes > 2 ** 20 && result.memory.afterBytes > 2 ** 20);
  assert.ok(result.leftOpen.some(({ kind }) => kind === "timer"));
  await live.call("command", COMMAND);
  assert.equal(calls.at(-1)?.name, "two");
});

test("a process without a state to hand over is replaced without one", async (t) => {
  const { live, build, answers } = await stage(t);
  await live.start(build("one"));
  answers["one"] = { quiesce: () => ({ drained: 0, faults: [] }) };

  const { stateHandedOver } = await live.replace(build("two"));

  assert.equal(stateHandedOver, false);
});

const START_LIMITS: readonly (readonly [
  what: string,
  inConfig: object | undefined,
  inManifest: object | undefined,
  startMs: number,
])[] = [
  ["1.5 s", undefined, undefined, 1_500],
  ["the limit of its manifest", undefined, { startMs: 4_000 }, 4_000],
  ["the limit of the config", { startMs: 5_000 }, { startMs: 4_000 }, 5_000],
];

for (const [what, inConfig, inManifest, startMs] of START_LIMITS) {
  test(`new code may take ${what} to start during a reload`, async (t) => {
    const { live, build, modules, deadlineOf } = await stage(t);
    await live.start(build("one"));
    if (inConfig) modules["lamp"] = { limits: inConfig };

    await live.replace(build("two", inManifest));

    assert.equal(deadlineOf("start"), 10 * startMs);
  });
}

test("nothing is replaced while no process runs", async (t) => {
  const { live, build, steps } = await stage(t);

  await assert.rejects(live.replace(build("two")), {
    code: "module_down",
    message: "the module has no live process to replace",
  });

  assert.deepEqual(steps, []);
});

test("if a build is refused, the new process is ended and the live one continues", async (t) => {
  const { live, build, steps, mayCall } = await stage(t);
  await live.start(build("one"));
  steps.length = 0;

  const refused = live.replace(build("two"), async () => assert.fail("not allowed"));

  await assert.rejects(refused, /not allowed/);
  assert.deepEqual(steps, ["two loads within 10000 ms", "two ends"]);
  assert.equal(mayCall("one"), true);
});

test("the old process continues if the new code does not start, and no crash is reported", async (t) => {
  const { live, build, answers, mayCall, crashes, exit } = await stage(t);
  await live.start(build("one"));
  answers["two"] = { start: failing("wrong code") };

  await assert.rejects(live.replace(build("two")), { message: "because wrong code" });

  assert.deepEqual([live.isRunning, mayCall("one")], [true, true]);
  assert.equal(live.takeProbation(), undefined);
  assert.deepEqual(crashes, []);
  await exit("one");
  assert.equal(crashes.length, 1, "its later crash is reported once");
});

test("a module is down if neither the new nor the old code starts", async (t) => {
  const { live, build, answers, crashes, pass, exit } = await stage(t);
  await live.start(build("one"));
  answers["one"] = { start: failing("not again") };
  answers["two"] = { start: failing("wrong code") };
  pass(500);

  await assert.rejects(live.replace(build("two")), { message: "because not again" });

  assert.equal(live.isRunning, false);
  assert.deepEqual(crashes, [[{ message: "because not again" }, 1_500]]);
  await live.start(build("three"));
  await exit("three");
  assert.equal(crashes.length, 2, "the crash of a later process is reported");
  live.releaseCalls();
});

test("for ten seconds a crash of new code returns to the previous build with its state, once", async (t) => {
  const { live, build, pass } = await stage(t);
  const one = build("one");
  await live.start(one);

  await live.replace(build("two"));
  pass(9_999);
  const taken = live.takeProbation();

  assert.equal(taken?.build, one);
  assert.equal(taken.state, "one");
  assert.equal(live.takeProbation(), undefined);
  await live.replace(build("three"));
  pass(10_000);
  assert.equal(live.takeProbation(), undefined);
});

test("a crash is reported with its reason, its place and its time, and calls wait", async (t) => {
  const { live, build, crashes, exit, steps, folder, pass } = await stage(t);
  await writeFile(join(folder, "index.ts"), "one\ntwo\nthree\n");
  await live.start(build("one"));
  steps.length = 0;
  pass(100);

  const lastLines = ["Error: what", `    at start (${join(folder, "index.ts")}:2:1)`];
  await exit("one", { code: 1, lastLines });

  const [[fault, since] = assert.fail()] = crashes;
  assert.match(fault.message, /uncaught error: Error: what/);
  assert.deepEqual([fault.file, fault.line, since], ["index.ts", 2, 1_100]);
  assert.equal(live.isRunning, false);
  assert.ok(live.ready() instanceof Promise);
  assert.deepEqual(steps, ["no figures"]);
  live.releaseCalls();
});

test("the crash time of a process that the host killed is when its fault began", async (t) => {
  const { live, build, crashes, exit } = await stage(t);
  await live.start(build("one"));

  await exit("one", { signal: "SIGKILL", ended: { cause: "it hung", since: 400 } });

  assert.deepEqual(crashes, [[{ message: "it hung" }, 400]]);
  live.releaseCalls();
});

test("the end of a process that was replaced or stopped is not a crash", async (t) => {
  const { live, build, crashes, exit } = await stage(t);
  await live.start(build("one"));
  await live.replace(build("two"));
  await exit("one");
  await live.stop();
  await exit("two");

  assert.deepEqual(crashes, []);
});

test("the end of the old process during its replacement is not a crash", async (t) => {
  const { live, build, crashes, exit, answers } = await stage(t);
  await live.start(build("one"));
  answers["two"] = { connect: () => exit("one") };

  await live.replace(build("two"));

  assert.deepEqual(crashes, []);
});

test("a crash of new code is reported before the old process has ended", async (t) => {
  const { live, build, crashes, exit, answers } = await stage(t);
  await live.start(build("one"));
  answers["one"] = { findLeaks: () => exit("two") };

  await live.replace(build("two"));

  assert.equal(crashes.length, 1);
  live.releaseCalls();
});

test("new code that cannot connect yet is in the module's log", async (t) => {
  const { live, build, answers, warnings } = await stage(t);
  await live.start(build("one"));
  answers["two"] = { connect: failing("no route") };

  await live.replace(build("two"));

  assert.deepEqual(warnings, [
    ["the new code could not connect before its start", new Error("no route")],
  ]);
});

test("a stopped process finishes its work first, and may make calls until its end", async (t) => {
  const { live, build, steps, mayCall, answers, calls, warnings } = await stage(t);
  await live.start(build("one", { quiesceMs: 700 }));
  answers["one"] = { quiesce: () => void steps.push(`may call: ${mayCall("one")}`) };
  steps.length = 0;

  await live.stop();

  assert.deepEqual(steps, ["no figures", "one quiesce", "may call: true", "one ends"]);
  const { input, deadlineMs } = calls.at(-1) ?? assert.fail();
  assert.deepEqual([input, deadlineMs], [{ deadlineMs: 700 }, 1_200]);
  assert.deepEqual([live.isRunning, mayCall("one"), warnings], [false, false, []]);
  await assert.rejects(live.call("command", COMMAND), /the module is not running/);
});

test("a process that does not finish its work is killed with a warning", async (t) => {
  const { live, build, steps, answers, warnings } = await stage(t);
  await live.start(build("one"));
  const late = new MantelError("deadline_passed", "it was late");
  answers["one"] = {
    quiesce: () => {
      throw late;
    },
  };

  await live.stop();

  assert.equal(steps.at(-1), "one ends");
  assert.deepEqual(warnings, [["the module did not quiesce", late]]);
});

test("a stop without a process ends the wait of calls", async (t) => {
  const { live } = await stage(t);
  live.holdCalls();
  const refused = assert.rejects(live.call("command", COMMAND), { code: "module_down" });

  await live.stop();

  await refused;
});

test("an error of the plugin's code in a call is in its log with the stack", async (t) => {
  const { live, build, answers, warnings } = await stage(t);
  await live.start(build("one"));
  answers["one"] = {
    command: () => {
      throw new RemoteFault({ name: "TypeError", message: "what", stack: "at lamp.ts:1" });
    },
  };

  await assert.rejects(live.call("command", COMMAND), /TypeError: what/);

  assert.deepEqual(warnings, [["the plugin's code failed in a call", "at lamp.ts:1"]]);
});

test("as many calls run at once as the limits of the live process allow", async (t) => {
  const { live, build, answers } = await stage(t);
  await live.start(build("one", { queueLength: 1 }));
  let end = (): void => undefined;
  answers["one"] = { command: () => new Promise<void>((resolve) => (end = resolve)) };

  const first = live.call("command", COMMAND);
  await assert.rejects(live.call("command", COMMAND), /1 calls are already running/);
  end();

  await first;
});

test("the usage of the process is reported twice a second while it runs", async (t) => {
  const { live, build, answers, usage } = await stage(t);
  answers["one"] = { ping: () => ({ cpuMicros: 0, heapBytes: 5, loopLagP99Ms: 0 }) };
  await live.start(build("one"));

  t.mock.timers.tick(500);
  for (let turn = 0; turn < 3; turn++) await setImmediate();
  await live.stop();
  t.mock.timers.tick(5_000);
  await setImmediate();

  assert.deepEqual(
    usage.map(({ heapBytes }) => heapBytes),
    [5],
  );
});

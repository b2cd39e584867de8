import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { RemoteFault } from "@mantel/plugin-sdk/rpc";
import type { ModuleFault } from "../../../host/api/module.ts";
import type { ConfigStore } from "../../../host/config/store.ts";
import type { Candidate } from "../../../host/modules/lifecycle/handover.ts";
import { LiveProcess } from "../../../host/modules/lifecycle/live-process.ts";
import type { ProcessLoader } from "../../../host/modules/lifecycle/process-loader.ts";
import type { Exit } from "../../../host/modules/process/exit-reason.ts";
import type { ResourceUsage } from "../../../host/modules/process/heartbeat.ts";
import type { Build } from "../../../host/modules/versions/version.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const EXIT: Exit = {
  code: 7,
  signal: null,
  lastLines: [],
  isFlooding: false,
  isOutOfMemory: false,
};
const COMMAND = { nativeId: "1", command: {}, commandId: "c" };

type Answers = Readonly<Record<string, (input: never) => unknown>>;

/** A module's live process, of processes that are none. Time is the test's. */
async function stage(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const folder = await emptyFolder(t);
  const steps: string[] = [];
  const calls: { name: string; method: string; input: unknown; deadlineMs: number }[] = [];
  const crashes: [fault: ModuleFault, since: number][] = [];
  /** The moments at which a resting module was needed. */
  const needs: number[] = [];
  const warnings: unknown[][] = [];
  const usage: ResourceUsage[] = [];
  const modules: Record<string, object> = {};
  const answers: Record<string, Answers> = {};
  const made = new Map<string, Candidate>();
  /** Overrides of the next candidates. */
  const changes: Record<string, unknown> = {};
  const exits = new Map<string, (exit: Exit) => void>();
  const build = (name: string, limits?: object): Build =>
    ({
      hash: name,
      plugin: { id: "lamp", folder, manifest: { id: "lamp", limits } },
    }) as unknown as Build;
  const loader = {
    load: async (of: Build, startMs: number): Promise<Candidate> => {
      const { hash: name } = of;
      steps.push(`${name} loads within ${startMs} ms`);
      const exited = new Promise<Exit>((resolve) => exits.set(name, resolve));
      const call = async (method: string, input: unknown, deadlineMs: number) => {
        calls.push({ name, method, input, deadlineMs });
        steps.push(`${name} ${method}`);
        const answer = answers[name]?.[method];
        if (answer) return answer(input as never);
        return method === "quiesce" ? { drained: 2, faults: [], state: name } : undefined;
      };
      const candidate = {
        generation: {
          pid: process.pid,
          peer: { call },
          exited,
          terminate: async () => void steps.push(`${name} ends`),
        },
        build: of,
        loaded: {},
        request: { config: name, folders: { notes: folder } },
        ...changes,
      } as unknown as Candidate;
      made.set(name, candidate);
      return candidate;
    },
    explain: async (error: Error) => new MantelError("reload_failed", `because ${error.message}`),
    fits: () => true,
    warmEarly: () => steps.push("a warm process starts"),
  };
  const live = new LiveProcess("lamp", {
    loader: loader as unknown as ProcessLoader,
    events: {
      onCrash: (...crash) => crashes.push(crash),
      onUsage: (figures) => void (figures ? usage.push(figures) : steps.push("no figures")),
      onCallerChanged: () => steps.push("another caller"),
      onLive: () => undefined,
      onIdle: () => undefined,
      onNeeded: () => needs.push(now),
      warn: (...warning) => warnings.push(warning),
    },
    config: { current: { modules } } as unknown as ConfigStore,
  });
  const mayCall = (name: string) => live.mayCallHost((made.get(name) as Candidate).generation);
  const exit = async (name: string, how: Partial<Exit> = {}) => {
    exits.get(name)?.({ ...EXIT, ...how });
    await setImmediate();
  };
  const pass = (ms: number) => void (now += ms);
  const deadlineOf = (method: string) =>
    calls.findLast((each) => each.method === method)?.deadlineMs;
  t.after(() => live.stop());
  return {
    live,
    steps,
    calls,
    crashes,
    warnings,
    usage,
    needs,
    changes,
    modules,
    answers,
    build,
    mayCall,
    exit,
    pass,
    deadlineOf,
    folder,
  };
}

const failing = (message: string) => () => {
  throw new Error(message);
};

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
  assert.equal(live.needed(), undefined);
  await live.rest();

  const needed = live.needed();
  assert.equal(needs.length, 1);
  await live.wake();

  await needed;
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { ModuleFault } from "../../../host/api/module.ts";
import { CrashRecovery } from "../../../host/modules/lifecycle/crash-recovery.ts";
import type { LiveProcess } from "../../../host/modules/lifecycle/live-process.ts";
import type { ProcessLoader } from "../../../host/modules/lifecycle/process-loader.ts";
import type { PluginPackage } from "../../../host/modules/manifest/manifest.ts";
import { ModuleStatus } from "../../../host/modules/state/status.ts";
import type { Build } from "../../../host/modules/versions/version.ts";

const plugin: PluginPackage = {
  id: "lamp",
  folder: "/lamp",
  version: "1.0.0",
  manifest: { id: "lamp", kinds: ["service"], server: "index.ts" },
};
const build = (hash: string) => ({ plugin, hash }) as Build;
const CRASH: ModuleFault = { message: "exited with code 7" };
const [WAIT_MS, SECOND_WAIT_MS] = [1_000, 2_000];

/** A module whose process has just crashed. Time and jitter are the test's: the first wait is one second. */
function crashedModule(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(Math, "random", () => 0.5);
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const steps: unknown[] = [];
  const parts = {
    isRunning: false,
    probation: undefined as { build: Build; state: unknown } | undefined,
    last: build("last") as Build | undefined,
    failure: undefined as Error | undefined,
  };
  const process = {
    get isRunning() {
      return parts.isRunning;
    },
    takeProbation: () => parts.probation,
    start: async ({ hash }: Build, state?: unknown) => {
      steps.push(["start", hash, state]);
      if (parts.failure) throw parts.failure;
      parts.isRunning = true;
    },
    releaseCalls: () => steps.push("calls need not wait"),
  };
  const status = new ModuleStatus(plugin, {
    changed: () => undefined,
    widget: () => null,
    limitsOf: () => ({}) as never,
    confinementOf: () => ({}) as never,
  });
  status.started(plugin);
  const recovery = new CrashRecovery({
    process: process as unknown as LiveProcess,
    loader: { warm: () => steps.push("warm process") } as unknown as ProcessLoader,
    status,
    build: () => parts.last,
    onRollback: ({ hash }, fault) => steps.push(["rolled back", hash, fault]),
    onQuarantine: () => steps.push("quarantine"),
    say: (sentence, { message }) => steps.push([sentence, message]),
    enqueue: (work) => void work(),
  });
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    await setImmediate();
  };
  const crash = async (message = CRASH.message, since = now) => {
    parts.isRunning = false;
    await recovery.crashed({ message }, since);
  };
  return { recovery, parts, status, steps, pass, crash };
}

test("a crashed module restarts after its wait, with a warm process started meanwhile", async (t) => {
  const { status, steps, pass, crash } = crashedModule(t);

  await crash();
  const { state, error, restarts } = status.view;
  await pass(WAIT_MS - 1);
  const early = [...steps];
  await pass(1);

  assert.deepEqual([state, error, restarts], ["loading", CRASH, 1]);
  assert.deepEqual(early, [["the module crashed; restarting", CRASH.message], "warm process"]);
  assert.deepEqual(steps.slice(2), [["start", "last", undefined]]);
  assert.deepEqual([status.view.state, status.view.error], ["active", null]);
});

test("the wait counts from the begin of the fault", async (t) => {
  const { steps, pass, crash } = crashedModule(t);
  await pass(5_000);

  await crash("it hung", 4_400);
  await pass(399);
  const early = steps.length;
  await pass(1);

  assert.deepEqual([early, steps.length], [2, 3]);
});

test("calls wait, and devices stay available, while the module is expected back soon", async (t) => {
  const { status, steps, pass, crash } = crashedModule(t);

  await crash();
  assert.equal(status.isComingBack, true);
  await pass(WAIT_MS);
  await pass(10_000);

  assert.equal(status.isComingBack, false);
  assert.ok(!steps.includes("calls need not wait"));
});

test("calls wait no longer when a restart failed, because the next wait is too long for them", async (t) => {
  const { parts, status, steps, pass, crash } = crashedModule(t);
  parts.failure = new Error("it does not start");
  await crash();
  const early = steps.includes("calls need not wait");

  await pass(WAIT_MS);

  assert.deepEqual([early, steps.includes("calls need not wait")], [false, true]);
  assert.equal(status.isComingBack, false);
});

test("a start that takes long releases the calls after two seconds", async (t) => {
  const { parts, status, steps, pass, crash } = crashedModule(t);
  parts.last = undefined; // the restart does nothing

  await crash();
  await pass(1_999);
  const early = [steps.includes("calls need not wait"), status.isComingBack];
  await pass(1);
  const late = [steps.includes("calls need not wait"), status.isComingBack];

  assert.deepEqual(
    [early, late],
    [
      [false, true],
      [true, false],
    ],
  );
});

test("calls do not wait at all if the restart takes longer than they may", async (t) => {
  const { status, steps, pass, crash } = crashedModule(t);
  await crash();
  await pass(WAIT_MS);
  steps.length = 0;

  await crash();
  await pass(SECOND_WAIT_MS - 1);
  const isComingBack = status.isComingBack;
  const early = [...steps];
  await pass(1);

  assert.equal(isComingBack, false);
  assert.deepEqual(early, [
    "calls need not wait",
    ["the module crashed; restarting", CRASH.message],
    "warm process",
  ]);
  assert.deepEqual(steps.at(-1), ["start", "last", undefined]);
});

test("a failed restart is repeated after a longer wait, and shows its own reason", async (t) => {
  const { parts, status, steps, pass, crash } = crashedModule(t);
  parts.failure = new Error("it does not start");
  await crash();
  await pass(WAIT_MS);
  assert.equal(status.view.error?.message, "it does not start");
  parts.failure = undefined;
  steps.length = 0;

  await pass(SECOND_WAIT_MS - 1);
  const early = steps.length;
  await pass(1);

  assert.equal(early, 0);
  assert.equal(status.view.state, "active");
});

test("a module that crashes too often is quarantined with the reason of the last crash", async (t) => {
  const { status, steps, pass, crash } = crashedModule(t);
  for (let count = 0; count < 4; count++) {
    await crash();
    await pass(10_000);
  }
  steps.length = 0;

  await crash("the last straw");
  await pass(100_000);

  const message = "it crashed too often; the last crash: the last straw";
  assert.deepEqual(status.view.error, { message });
  assert.equal(status.view.state, "quarantined");
  assert.deepEqual(steps.slice(0, 3), [
    "quarantine",
    "calls need not wait",
    ["the module crashed too often; quarantined until it is reloaded", "the last straw"],
  ]);
  assert.ok(!steps.some((step) => Array.isArray(step) && step[0] === "start"));
});

test("forgiven crashes do not count", async (t) => {
  const { recovery, status, pass, crash } = crashedModule(t);
  for (let count = 0; count < 4; count++) {
    await crash();
    await pass(10_000);
  }

  recovery.forgive();
  await crash();

  assert.equal(status.view.state, "loading");
});

for (const cancel of ["cancel", "forgive"] as const) {
  test(`${cancel} prevents the restart and the end of the calls' wait`, async (t) => {
    const { recovery, steps, pass, crash } = crashedModule(t);
    await crash();
    steps.length = 0;

    recovery[cancel]();
    await pass(10_000);

    assert.deepEqual(steps, []);
  });
}

test("a crash on probation rolls back to the previous build with its state, without a wait", async (t) => {
  const { parts, status, steps, pass, crash } = crashedModule(t);
  parts.probation = { build: build("previous"), state: { count: 1 } };

  await crash();
  await pass(10_000);

  assert.deepEqual(steps, [
    ["start", "previous", { count: 1 }],
    ["rolled back", "previous", CRASH],
  ]);
  assert.deepEqual([status.view.state, status.view.restarts], ["active", 1]);
  assert.equal(status.isComingBack, false);
});

test("a module is expected back soon while it rolls back", async (t) => {
  const { parts, status, crash } = crashedModule(t);
  parts.probation = { build: build("previous"), state: undefined };

  const rolledBack = crash();

  assert.equal(status.isComingBack, true);
  assert.deepEqual([status.view.state, status.view.error], ["loading", CRASH]);
  await rolledBack;
});

test("a module whose previous build does not start either restarts its last build", async (t) => {
  const { parts, status, steps, pass, crash } = crashedModule(t);
  parts.probation = { build: build("previous"), state: undefined };
  parts.failure = new Error("it does not start");

  await crash();
  parts.failure = undefined;
  await pass(WAIT_MS);

  assert.deepEqual(steps.slice(0, 3), [
    ["start", "previous", undefined],
    ["the previous code does not start either", "it does not start"],
    ["the module crashed; restarting", CRASH.message],
  ]);
  assert.deepEqual(steps.at(-1), ["start", "last", undefined]);
  assert.equal(status.view.state, "active");
});

test("a crash of a replaced process changes nothing", async (t) => {
  const { recovery, parts, status, steps } = crashedModule(t);
  parts.isRunning = true;

  await recovery.crashed(CRASH, 0);

  assert.deepEqual(steps, []);
  assert.equal(status.view.state, "active");
});

const OVERTAKEN: readonly (readonly [
  what: string,
  act: (module: ReturnType<typeof crashedModule>) => unknown,
])[] = [
  ["runs already", ({ parts }) => (parts.isRunning = true)],
  ["was stopped", ({ status }) => status.become("disabled")],
  ["has no build", ({ parts }) => (parts.last = undefined)],
];

for (const [what, act] of OVERTAKEN) {
  test(`a module that ${what} when its wait ends is not started`, async (t) => {
    const module = crashedModule(t);
    await module.crash();

    act(module);
    await module.pass(WAIT_MS);

    assert.ok(!module.steps.some((step) => Array.isArray(step) && step[0] === "start"));
  });
}

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi } from "@mantel/plugin-sdk/protocol";
import { type Handlers, NotBegun } from "@mantel/plugin-sdk/rpc";
import { Type } from "typebox";
import type { ConfigStore } from "../../../host/config/store.ts";
import type { ProcessLoader } from "../../../host/modules/lifecycle/process-loader.ts";
import { TrialRuns } from "../../../host/modules/lifecycle/trial-runs.ts";
import type { Build } from "../../../host/modules/versions/version.ts";

const FORM = Type.Object({ code: Type.String() });
const home = { locale: "en", timeZone: "UTC", pollSeconds: 5 };

/** The trials of a module with processes that are none; `steps` tells what happened to them. */
function openTrials(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const steps: string[] = [];
  const calls: [method: string, input: unknown, deadlineMs: number][] = [];
  const patches: unknown[] = [];
  const parts = {
    hasBuild: true,
    trials: ["test", "setup"] as unknown,
    answer: (_method: string): unknown => "it works",
    api: {} as Partial<Handlers<HostApi>>,
    opening: undefined as Promise<void> | undefined,
    patchFailure: undefined as Error | undefined,
  };
  const build = { plugin: { manifest: { uses: ["mqtt.broker"] } } } as unknown as Build;
  const generation = {
    peer: {
      call: async (method: string, input: unknown, deadlineMs: number) => {
        calls.push([method, input, deadlineMs]);
        return parts.answer(method);
      },
    },
    end: async (cause: string) => void steps.push(`killed: ${cause}`),
    terminate: async () => void steps.push("ended"),
  };
  const loader = {
    open: async (_build: Build, opening: { api: Partial<Handlers<HostApi>> }) => {
      steps.push(`opens ${JSON.stringify({ ...opening, api: Object.keys(opening.api) })}`);
      await parts.opening;
      parts.api = opening.api;
      return { generation, build, loaded: { trials: parts.trials, options: undefined } };
    },
    explain: async (error: Error) => new Error(`because ${error.message}`),
  };
  const config = {
    current: { ui: { locale: "en", timeZone: "UTC" }, devices: { pollSeconds: 5 } },
    optionsAfter: (id: string, _schema: unknown, patch: unknown) => ({ id, patch }),
    optionsFor: (id: string) => ({ options: { id, stored: true } }),
    patch: async (...patch: unknown[]) => {
      if (parts.patchFailure) throw parts.patchFailure;
      patches.push(patch);
    },
  };
  const trials = new TrialRuns({
    id: "lamp",
    config: config as unknown as ConfigStore,
    loader: loader as unknown as ProcessLoader,
    build: () => (parts.hasBuild ? build : undefined),
  });
  return { trials, parts, steps, calls, patches };
}

test("a test asks a new process with the options after the patch, and ends it", async (t) => {
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const { trials, steps, calls, parts } = openTrials(t);
  parts.answer = () => {
    now += 12.4;
    return "it works";
  };

  const result = await trials.test({ address: "a.test" });

  assert.deepEqual(result, { ok: true, detail: "it works", durationMs: 12 });
  const options = { id: "lamp", patch: { address: "a.test" } };
  const request = { config: options, home, uses: ["mqtt.broker"] };
  assert.deepEqual(calls, [["test", request, 15_000]]);
  assert.deepEqual(steps, ['opens {"deadlineMs":10000,"api":[],"isTrial":true}', "ended"]);
});

test("the result and the reason of a failure have at most 500 characters", async (t) => {
  const { trials, parts } = openTrials(t);
  parts.answer = () => "x".repeat(501);
  const { detail } = await trials.test({});
  parts.answer = () => {
    throw new MantelError("bridge_down", "y".repeat(501));
  };
  const failed = await trials.test({});

  assert.equal(detail, "x".repeat(500));
  assert.deepEqual([failed.ok, failed.detail], [false, "y".repeat(500)]);
});

const FAILURES: readonly (readonly [what: string, error: Error, detail: string])[] = [
  ["an expected failure", new MantelError("bridge_down", "nobody is there"), "nobody is there"],
  ["a fault of the code", new TypeError("what"), "because what"],
  ["the end of its process", new NotBegun(), "because the process ended before the call began"],
  [
    "the end of its process meanwhile",
    new MantelError("outcome_unknown", "it ended"),
    "because it ended",
  ],
];

for (const [what, error, detail] of FAILURES) {
  test(`a test that fails by ${what} says so in words for its author or user`, async (t) => {
    const { trials, parts, steps } = openTrials(t);
    parts.answer = () => {
      throw error;
    };

    const result = await trials.test({});

    assert.deepEqual([result.ok, result.detail], [false, detail]);
    assert.equal(steps.at(-1), "ended");
  });
}

for (const trial of ["test", "setup"] as const) {
  for (const [what, offered] of [
    ["does not have", []],
    ["tells nonsense about", trial],
  ] as const) {
    test(`a ${trial} that the code ${what} is refused, and its process ends`, async (t) => {
      const { trials, parts, steps } = openTrials(t);
      parts.trials = offered;

      const outcome =
        trial === "test"
          ? await trials.test({}).catch(({ message }: Error) => message)
          : await begin(trials).then(() => trials.setup.error);

      assert.equal(outcome, `lamp has no ${trial}`);
      assert.equal(steps.at(-1), "ended");
    });
  }

  test(`a ${trial} of code that was never loaded is refused`, (t) => {
    const { trials, parts } = openTrials(t);
    parts.hasBuild = false;

    assert.throws(() => (trial === "test" ? void trials.test({}) : trials.beginSetup()), {
      code: "module_down",
      message: "the code of lamp was never loaded; enable it first",
    });
  });
}

async function begin(trials: TrialRuns): Promise<void> {
  trials.beginSetup();
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

test("one test runs at a time, beside a setup", async (t) => {
  const { trials, parts } = openTrials(t);
  const ends: ((value: unknown) => void)[] = [];
  parts.answer = () => new Promise((end) => ends.push(end));
  const first = trials.test({});
  await begin(trials);

  assert.throws(() => void trials.test({}), {
    code: "module_busy",
    message: "a test of lamp is already running; end it first",
  });
  assert.throws(() => trials.beginSetup(), {
    code: "module_busy",
    message: "a setup of lamp is already running; end it first",
  });
  for (const end of ends) end("done");
  await first;

  parts.answer = () => "done again";
  assert.equal((await trials.test({})).detail, "done again");
});

test("a setup begins with the stored options, and what it returns is stored", async (t) => {
  const { trials, parts, calls, patches, steps } = openTrials(t);
  parts.answer = () => ({ address: "a.test" });

  await begin(trials);

  assert.equal(trials.setup.state, "done");
  const options = { id: "lamp", stored: true };
  assert.deepEqual(calls, [["setup", { config: options, home, uses: ["mqtt.broker"] }, 600_000]]);
  assert.deepEqual(patches, [[{ lamp: { address: "a.test" } }, { admin: true }]]);
  assert.deepEqual(steps, [
    'opens {"deadlineMs":10000,"api":["showStep"],"isTrial":true}',
    "ended",
  ]);
});

/** A setup that shows steps and waits for answers until it is ended by `finish`. */
async function openSetup(t: TestContext) {
  const opened = openTrials(t);
  let finish = (_result: unknown): void => undefined;
  opened.parts.answer = (method) =>
    method === "setup" ? new Promise((resolve) => (finish = resolve)) : undefined;
  await begin(opened.trials);
  const show = (step: object) => (opened.parts.api.showStep as (step: object) => void)(step);
  const end = async (result: unknown) => {
    finish(result);
    for (let turn = 0; turn < 5; turn++) await setImmediate();
  };
  return { ...opened, show, end };
}

test("the steps of a setup are shown, and answers go to its process", async (t) => {
  const { trials, show, calls } = await openSetup(t);

  show({ step: 1, title: "Code", form: FORM });
  const asked = trials.setup.state;
  const view = await trials.answerSetup({ step: 1, answer: { code: "1" } });

  assert.deepEqual([asked, view.state], ["asking", "working"]);
  assert.deepEqual(calls.at(-1), ["answer", { step: 1, answer: { code: "1" } }, 2_000]);
});

test("an invalid step ends the setup with its fault, and kills its process", async (t) => {
  const { trials, show, steps } = await openSetup(t);

  show({ step: 1, title: "" });

  assert.equal(trials.setup.state, "failed");
  assert.match(trials.setup.error ?? "", /the step is invalid: \/title/);
  assert.ok(steps.includes("killed: the trial was cancelled"));
});

test("a cancelled setup kills its process and stores nothing, also what it still returns", async (t) => {
  const { trials, end, steps, patches } = await openSetup(t);

  const cancelled = trials.cancelSetup();
  assert.ok(steps.includes("killed: the trial was cancelled"));
  await end({ address: "a.test" });
  const { state } = await cancelled;

  assert.deepEqual([state, trials.setup.state, patches], ["cancelled", "cancelled", []]);
});

test("a setup that is cancelled before its process is there kills it then", async (t) => {
  const { trials, parts, steps } = openTrials(t);
  let arrive = (): void => undefined;
  parts.opening = new Promise((resolve) => (arrive = resolve));
  await begin(trials);

  const cancelled = trials.cancelSetup();
  const early = steps.includes("killed: the trial was cancelled");
  arrive();
  await cancelled;

  assert.deepEqual([early, steps.includes("killed: the trial was cancelled")], [false, true]);
});

test("a setup whose options do not fit fails with the fault", async (t) => {
  const { trials, parts, steps } = openTrials(t);
  parts.patchFailure = new Error("x".repeat(501));

  await begin(trials);

  assert.deepEqual([trials.setup.state, trials.setup.error], ["failed", "x".repeat(500)]);
  assert.equal(steps.at(-1), "ended");
});

test("a setup whose code fails says why", async (t) => {
  const { trials, parts } = openTrials(t);
  parts.answer = () => {
    throw new TypeError("what");
  };

  await begin(trials);

  assert.deepEqual([trials.setup.state, trials.setup.error], ["failed", "because what"]);
});

test("without a setup there is nothing to show, answer or cancel", async (t) => {
  const { trials } = openTrials(t);
  const unknown = { code: "not_found", message: "no setup of lamp has begun" };

  assert.throws(() => trials.setup, unknown);
  await assert.rejects(trials.answerSetup({ step: 1, answer: {} }), unknown);
  await assert.rejects(trials.cancelSetup(), unknown);
  await trials.close();
});

test("the end of a module cancels its setup and its test", async (t) => {
  const { trials, parts, steps } = openTrials(t);
  const ends: ((value: unknown) => void)[] = [];
  parts.answer = () => new Promise((end) => ends.push(end));
  const tested = trials.test({});
  await begin(trials);

  const closed = trials.close();
  assert.equal(trials.setup.state, "cancelled");
  assert.equal(steps.filter((step) => step.startsWith("killed")).length, 2);
  for (const end of ends) end("late");
  await closed;

  assert.equal((await tested).detail, "late");
  assert.equal(steps.filter((step) => step === "ended").length, 2);
});

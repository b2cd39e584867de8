import assert from "node:assert/strict";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { Type } from "typebox";
import { SetupFlow } from "../../../host/modules/lifecycle/setup-flow.ts";

const FORM = Type.Object({
  address: Type.String({ minLength: 3 }),
  port: Type.Integer({ default: 80 }),
});

function openSetup() {
  const passed: unknown[] = [];
  const setup = new SetupFlow(async (answer) => void passed.push(answer));
  return { setup, passed };
}

test("a setup begins without a step, and ends ten minutes later at the latest", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-01-01T00:00:00Z") });

  const { setup } = openSetup();

  assert.equal(setup.isUnderWay, true);
  assert.deepEqual(setup.view, {
    state: "working",
    step: 0,
    title: "Starting",
    text: null,
    progress: null,
    form: null,
    error: null,
    endsAt: "2026-01-01T00:10:00.000Z",
  });
});

test("a step without a form shows its title, text and progress", () => {
  const { setup } = openSetup();

  setup.show({ step: 1, title: "Press the button", text: "on the back", progress: 40 });
  const { endsAt: _, ...first } = setup.view;
  setup.show({ step: 2, title: "Searching" });
  const { endsAt: __, ...second } = setup.view;

  const shown = { state: "working", form: null, error: null };
  const title = "Press the button";
  assert.deepEqual(first, { ...shown, step: 1, title, text: "on the back", progress: 40 });
  assert.deepEqual(second, { ...shown, step: 2, title: "Searching", text: null, progress: null });
});

test("a step with a form asks until it is answered, and absent fields get their defaults", async () => {
  const { setup, passed } = openSetup();
  setup.show({ step: 1, title: "Where is it?", form: FORM });
  const { state, form } = setup.view;

  await setup.answer({ step: 1, answer: { address: "lamp.local" } });

  assert.deepEqual([state, form], ["asking", structuredClone(FORM)]);
  assert.deepEqual([setup.view.state, setup.view.form], ["working", null]);
  assert.deepEqual(passed, [{ step: 1, answer: { address: "lamp.local", port: 80 } }]);
});

test("an answer with faults is refused with each of them, and the step still asks", async () => {
  const { setup, passed } = openSetup();
  setup.show({ step: 1, title: "Where is it?", form: FORM });

  await assert.rejects(
    setup.answer({ step: 1, answer: { address: "x", port: "y" } }),
    ({ code, extras }: MantelError) => {
      assert.equal(code, "invalid");
      assert.deepEqual(
        extras.errors?.map(({ pointer }) => pointer),
        ["/answer/address", "/answer/port"],
      );
      return true;
    },
  );

  assert.equal(setup.view.state, "asking");
  assert.deepEqual(passed, []);
});

const UNEXPECTED: readonly (readonly [what: string, act: (setup: SetupFlow) => void])[] = [
  ["before any step", () => undefined],
  ["to another step", (setup) => setup.show({ step: 2, title: "Code", form: FORM })],
  ["to a step without a form", (setup) => setup.show({ step: 1, title: "Wait" })],
  [
    "after the end",
    (setup) => {
      setup.show({ step: 1, title: "Code", form: FORM });
      setup.end("cancelled");
    },
  ],
];

for (const [what, act] of UNEXPECTED) {
  test(`an answer ${what} is refused`, async () => {
    const { setup, passed } = openSetup();
    act(setup);

    await assert.rejects(setup.answer({ step: 1, answer: { address: "lamp.local" } }), {
      code: "invalid",
      message: "the answer is invalid: /step is 1, which expects no answer",
    });

    assert.deepEqual(passed, []);
  });
}

const WRONG: readonly (readonly [what: string, step: object, message: RegExp])[] = [
  ["number 0", { step: 0, title: "x" }, /\/step/],
  ["a fraction as its number", { step: 1.5, title: "x" }, /\/step/],
  ["an empty title", { step: 1, title: "" }, /\/title/],
  ["a title of 201 characters", { step: 1, title: "x".repeat(201) }, /\/title/],
  ["a text of 2,001 characters", { step: 1, title: "x", text: "x".repeat(2_001) }, /\/text/],
  ["progress below 0", { step: 1, title: "x", progress: -1 }, /\/progress/],
  ["progress above 100", { step: 1, title: "x", progress: 101 }, /\/progress/],
  [
    "a form that is not an object",
    { step: 1, title: "x", form: Type.String() },
    /^a form must be an object schema$/,
  ],
  [
    "a form of more than 32,768 bytes",
    { step: 1, title: "x", form: Type.Object({}, { description: "x".repeat(32_768) }) },
    /^a form may have at most 32768 bytes of JSON Schema$/,
  ],
];

for (const [what, step, message] of WRONG) {
  test(`a step with ${what} is refused`, () => {
    const { setup } = openSetup();

    assert.throws(() => setup.show(step as never), { code: "invalid", message });

    assert.equal(setup.view.step, 0);
  });
}

test("a step at every limit is shown", () => {
  const { setup } = openSetup();
  const empty = JSON.stringify(Type.Object({}, { description: "" })).length;
  const form = Type.Object({}, { description: "x".repeat(32_768 - empty) });

  setup.show({ step: 1, title: "x".repeat(200), text: "x".repeat(2_000), progress: 100, form });
  assert.equal(setup.view.state, "asking");
  setup.show({ step: 2, title: "x", progress: 0 });

  assert.equal(setup.view.progress, 0);
});

for (const state of ["done", "failed", "cancelled"] as const) {
  test(`a setup that is ${state} stays so, and shows no further step`, () => {
    const { setup } = openSetup();
    setup.show({ step: 1, title: "Code", form: FORM });

    setup.end(state, "the reason");
    setup.end("done");
    setup.end("failed", "later");
    setup.show({ step: 2, title: "Next" });

    const { step, form, error } = setup.view;
    assert.deepEqual([setup.view.state, step, form, error], [state, 1, null, "the reason"]);
    assert.equal(setup.isUnderWay, false);
  });
}

test("a setup that ends without a reason has no error", () => {
  const { setup } = openSetup();

  setup.end("done");

  assert.equal(setup.view.error, null);
});

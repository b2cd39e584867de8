import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, capabilities, entity, isConfirmed, view } from "./entity.ts";

const SWITCH = { type: "boolean" } as const;
const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const choice = (...values: string[]) => ({ type: "choice", values });

for (const [supported_features, more] of [
  [0, {}],
  [1, { speed: PERCENT }],
  [2, { oscillating: SWITCH }],
  [4, { direction: choice("forward", "reverse") }],
  [8, { preset: choice("auto", "sleep") }],
] as const) {
  test(`a fan with the features ${supported_features} has on${Object.keys(more)
    .map((name) => `, ${name}`)
    .join("")}`, () => {
    const attributes = { supported_features, preset_modes: ["auto", "sleep"] };
    assert.deepEqual(capabilities("fan", attributes), { on: SWITCH, ...more });
  });
}

test("a fan shows its speed, direction, preset and if it swings", () => {
  const attributes = {
    supported_features: 15,
    preset_modes: ["auto"],
    percentage: 40,
    direction: "reverse",
    preset_mode: "auto",
  };
  const shown = { on: true, speed: 40, direction: "reverse", preset: "auto" };

  assert.deepEqual(view(entity("fan", "on", attributes)).state, { ...shown, oscillating: false });
  const swinging = { ...attributes, oscillating: true };
  assert.deepEqual(view(entity("fan", "on", swinging)).state, { ...shown, oscillating: true });
});

test("each field of a command to a fan calls its service, and off calls nothing else", () => {
  const of = entity("fan", "on");

  assert.deepEqual(
    calls(of, { on: true, speed: 33, oscillating: false, direction: "reverse", preset: "auto" }),
    [
      ["fan.turn_on"],
      ["fan.set_percentage", { percentage: 33 }],
      ["fan.oscillate", { oscillating: false }],
      ["fan.set_direction", { direction: "reverse" }],
      ["fan.set_preset_mode", { preset_mode: "auto" }],
    ],
  );
  assert.deepEqual(calls(of, { on: false, speed: 40 }), [["fan.turn_off"]]);
  assert.deepEqual(calls(of, { speed: 40 }), [["fan.set_percentage", { percentage: 40 }]]);
});

/** A fan with so many speeds, as Home Assistant shows and sets it: percentages are whole, the step is not. */
function speedsOf(count: number) {
  const percentage_step = 100 / count;
  return Array.from({ length: count }, (_, at) => ({
    speed: at + 1,
    percentage: Math.floor(((at + 1) * 100) / count),
    percentage_step,
    supported_features: 1,
  }));
}

for (const count of [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 33, 99, 100]) {
  test(`each of ${count} speeds of a fan is shown, set again and confirmed`, () => {
    for (const { speed, ...attributes } of speedsOf(count)) {
      const of = entity("fan", "on", attributes);
      const { percentage } = attributes;
      const shown = Number(view(of).state["speed"]);
      const [, data] = calls(of, { speed: shown })[0] ?? [];
      const asked = Number((data as { percentage: number }).percentage);

      assert.ok(Math.abs(shown - (speed * 100) / count) < 1e-9, `${shown}`);
      assert.equal(asked, percentage);
      // integrations take the next speed
      assert.equal(Math.ceil((asked * count) / 100), speed);
      assert.equal(isConfirmed({ speed: shown }, of, of), true);
      const other = entity("fan", "on", { ...attributes, percentage: percentage > 50 ? 0 : 100 });
      assert.equal(isConfirmed({ speed: shown }, of, other), false);
    }
  });
}

for (const [percentage_step, step, told, shown] of [
  [33.33, 100 / 3, 66, 66.6667],
  [33.33, 100 / 3, 67, 66.6667],
  [33.33, 100 / 3, 50, 50],
  [0, 1, 66, 66],
  [-5, 1, 66, 66],
  ["25", 25, 75, 75],
  ["much", 1, 75, 75],
  [undefined, 1, 75, 75],
  [250, 100, 100, 100],
  [0.1, 1, 33, 33],
  [100 / 99, 100 / 99, 50, 50.5051],
] as const) {
  test(`a fan whose step is ${percentage_step} has steps of ${step} and shows ${told} as ${shown}`, () => {
    const attributes = { percentage_step, percentage: told, supported_features: 1 };
    const of = view(entity("fan", "on", attributes));

    assert.deepEqual(of.capabilities["speed"], { ...PERCENT, step });
    assert.ok(Math.abs(Number(of.state["speed"]) - shown) < 1e-4);
  });
}

test("a percentage between two of three speeds sets the higher one", () => {
  const of = entity("fan", "on", { percentage_step: 100 / 3, supported_features: 1 });
  const asked = (speed: number) => calls(of, { speed })[0]?.[1];

  assert.deepEqual([33, 33.3, 34, 66, 66.7, 67, 100, 0].map(asked), [
    ...[33, 33, 66, 66, 66, 100, 100, 0].map((percentage) => ({ percentage })),
  ]);
});

for (const [asked, step, told, is] of [
  [50, 25, 50, true],
  [50, 25, 75, false],
  [50, 25, 25, false],
  [60, 25, 75, true],
  [60, 25, 50, false],
  [60, 25, 25, false],
  [50, undefined, 51, true],
  [50, undefined, 52, false],
  [50, 0.5, 51, true],
] as const) {
  test(`the speed ${asked} of a fan with steps of ${step} is ${is ? "" : "not "}reached with ${told}`, () => {
    const at = (percentage: number) =>
      entity("fan", "on", { percentage, percentage_step: step, supported_features: 1 });
    assert.equal(isConfirmed({ speed: asked }, at(0), at(told)), is);
  });
}

test("other fields of a fan are reached by their value", () => {
  const of = (state: string) => entity("fan", state, { percentage: 50 });

  assert.equal(isConfirmed({ on: true }, of("off"), of("off")), false);
  assert.equal(isConfirmed({ on: true }, of("off"), of("on")), true);
});

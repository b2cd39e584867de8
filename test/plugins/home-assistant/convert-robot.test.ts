import assert from "node:assert/strict";
import { test } from "node:test";
import { calls, entity, isConfirmed, isConfirmedByAnswer, view } from "./entity.ts";

const PERCENT_READ = {
  type: "number",
  min: 0,
  max: 100,
  step: 1,
  unit: "%",
  readOnly: true,
} as const;
const COMMAND = { type: "command" };
const choice = (...values: string[]) => ({ type: "choice", values });
const STATES = ["cleaning", "docked", "idle", "paused", "returning", "error"];
const MOWER_STATES = STATES.map((state) => (state === "cleaning" ? "mowing" : state));
const ACTION = { ...choice(...STATES), readOnly: true };

for (const [domain, feature, command, service, reached] of [
  ["vacuum", 8_192, "start", "vacuum.start", ["cleaning"]],
  ["vacuum", 4, "pause", "vacuum.pause", ["paused", "idle"]],
  ["vacuum", 8, "stop", "vacuum.stop", ["idle", "docked", "paused"]],
  ["vacuum", 16, "dock", "vacuum.return_to_base", ["returning", "docked"]],
  ["lawn_mower", 1, "start", "lawn_mower.start_mowing", ["mowing"]],
  ["lawn_mower", 2, "pause", "lawn_mower.pause", ["paused"]],
  ["lawn_mower", 4, "dock", "lawn_mower.dock", ["returning", "docked"]],
] as const) {
  test(`a ${domain} with the feature ${feature} can ${command}, and has done so when it is ${reached.join(" or ")}`, () => {
    const of = (state: string) => entity(domain, state, { supported_features: feature });
    const states = domain === "vacuum" ? STATES : MOWER_STATES;

    assert.deepEqual(view(of("idle")).capabilities, {
      action: { ...choice(...states), readOnly: true },
      [command]: COMMAND,
    });
    assert.deepEqual(calls(of("idle"), { [command]: true }), [[service]]);
    assert.deepEqual(
      states.filter((state) => isConfirmed({ [command]: true }, of("error"), of(state))).toSorted(),
      [...reached].toSorted(),
    );
  });
}

test("a vacuum that is located is confirmed by Home Assistant's answer", () => {
  const of = entity("vacuum", "docked", { supported_features: 512 });

  assert.deepEqual(calls(of, { locate: true }), [["vacuum.locate"]]);
  assert.equal(isConfirmedByAnswer({ locate: true }, of), true);
});

test("a vacuum cleans a spot as an extra", () => {
  const at = (state: string) => entity("vacuum", state, { supported_features: 1_024 });

  assert.deepEqual(view(at("idle")).extra, {
    capabilities: { cleanSpot: { ...COMMAND, group: "main" } },
    state: {},
  });
  assert.deepEqual(calls(at("idle"), { cleanSpot: true }), [["vacuum.clean_spot"]]);
  assert.equal(isConfirmed({ cleanSpot: true }, at("idle"), at("cleaning")), true);
  assert.equal(isConfirmed({ cleanSpot: true }, at("idle"), at("idle")), false);
});

test("a vacuum shows its action, its fan speed and its battery, as far as it has them", () => {
  const attributes = { supported_features: 32, fan_speed_list: ["low", "high"] };
  const robo = entity("vacuum", "cleaning", { ...attributes, fan_speed: "low", battery_level: 80 });

  assert.deepEqual(view(robo).capabilities, {
    action: ACTION,
    fanSpeed: choice("low", "high"),
    battery: PERCENT_READ,
  });
  assert.deepEqual(view(robo).state, { action: "cleaning", fanSpeed: "low", battery: 80 });
  assert.deepEqual(calls(robo, { fanSpeed: "high" }), [
    ["vacuum.set_fan_speed", { fan_speed: "high" }],
  ]);
});

test("a vacuum without any command shows its action", () => {
  for (const attributes of [{}, { supported_features: 32 }, { supported_features: "much" }]) {
    assert.deepEqual(view(entity("vacuum", "unknown", attributes)), {
      kind: "vacuum",
      capabilities: { action: ACTION },
      state: { action: null },
    });
  }
});

test("an action of a robot that is not known is unknown", () => {
  assert.deepEqual(view(entity("lawn_mower", "dancing")).state, { action: null });
  assert.deepEqual(view(entity("lawn_mower", "mowing")).state, { action: "mowing" });
});

test("the fan speed of a vacuum is reached by its value", () => {
  const at = (fan_speed: string) =>
    entity("vacuum", "cleaning", {
      fan_speed,
      supported_features: 32,
      fan_speed_list: ["low", "high"],
    });

  assert.equal(isConfirmed({ fanSpeed: "high" }, at("low"), at("low")), false);
  assert.equal(isConfirmed({ fanSpeed: "high" }, at("low"), at("high")), true);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { StateValue } from "@mantel/plugin-sdk";
import { faultsOfState } from "@mantel/plugin-sdk/capability";
import { DeviceDescription } from "@mantel/plugin-sdk/device";
import { canonicalCapability, faultsOfVocabulary } from "@mantel/plugin-sdk/vocabulary";
import { faultsOf } from "../../../host/validate.ts";
import { confirmsAll } from "../../../plugins/home-assistant/confirmations.ts";
import { domainOf } from "../../../plugins/home-assistant/convert.ts";
import { DOMAINS } from "../../../plugins/home-assistant/options.ts";
import shapes from "../../fixtures/home-assistant/entities.json" with { type: "json" };
import { capabilities, entity, isConfirmed, isConfirmedByAnswer, view } from "./entity.ts";

for (const [name, kind] of [
  ["light", "light"],
  ["switch", "switch"],
  ["input_boolean", "switch"],
  ["sensor", "sensor"],
  ["binary_sensor", "binary-sensor"],
  ["cover", "cover"],
  ["climate", "thermostat"],
  ["fan", "fan"],
  ["lock", "lock"],
  ["media_player", "media-player"],
  ["vacuum", "vacuum"],
  ["alarm_control_panel", "alarm"],
  ["number", "sensor"],
  ["input_number", "sensor"],
  ["select", "sensor"],
  ["input_select", "sensor"],
  ["button", "button"],
  ["input_button", "button"],
  ["humidifier", "humidifier"],
  ["water_heater", "water-heater"],
  ["siren", "siren"],
  ["valve", "valve"],
  ["lawn_mower", "lawn-mower"],
  ["event", "button"],
  ["update", "update"],
  ["text", "sensor"],
  ["input_text", "sensor"],
  ["date", "sensor"],
  ["time", "sensor"],
  ["datetime", "sensor"],
  ["input_datetime", "sensor"],
  ["weather", "weather-station"],
  ["calendar", "binary-sensor"],
  ["camera", "camera"],
  ["device_tracker", "tracker"],
  ["person", "tracker"],
] as const) {
  test(`an entity of ${name} is a ${kind}`, () => {
    assert.equal(view(entity(name, "on")).kind, kind);
  });
}

test("entities of other domains are not devices", () => {
  for (const name of ["todo", "scene", "toString", ""]) assert.equal(domainOf(name), undefined);
});

test("a value that its capability cannot have is unknown, and the rest of the state is kept", () => {
  const light = entity("light", "on", {
    supported_color_modes: ["hs"],
    effect_list: ["a"],
    brightness: 300,
    hs_color: [361, 50],
    effect: "b",
  });

  assert.deepEqual(view(light).state, { on: true, brightness: null, color: null, effect: null });
});

test("a number outside its range, and a choice that is not offered, are unknown", () => {
  const level = (state: string) => view(entity("number", state, { min: 1, max: 5 })).state;

  assert.deepEqual(
    ["0.9", "1", "5", "5.1", "many"].map((state) => level(state)["value"]),
    [null, 1, 5, null, null],
  );
  const mode = (state: string) => view(entity("select", state, { options: ["a", "b"] })).state;
  assert.deepEqual(
    [mode("b"), mode("c"), mode("unknown")],
    [{ value: "b" }, { value: null }, { value: null }],
  );
});

for (const [color, value] of [
  [[0, 0], { hue: 0, saturation: 0 }],
  [[360, 100], { hue: 360, saturation: 100 }],
  [[-1, 50], null],
  [[361, 50], null],
  [[50, -1], null],
  [[50, 101], null],
] as const) {
  test(`the colour ${color.join()} of a light is ${JSON.stringify(value)}`, () => {
    const light = { supported_color_modes: ["hs"], hs_color: color };
    assert.deepEqual(view(entity("light", "on", light)).state["color"], value);
  });
}

/** True if a light that shows some attributes now has reached what was asked of it. */
function isReached(field: string, asked: StateValue, before: object, now: object): boolean {
  const modes = { supported_color_modes: ["hs", "color_temp"], effect_list: ["a", "b"] };
  const light = (more: object) => entity("light", "on", { ...modes, ...more });
  return isConfirmed({ [field]: asked } as never, light(before), light(now));
}

for (const [asked, told, is] of [
  [50, 128, true],
  [50, 125, true],
  [50, 130, true],
  [50, 133, false],
  [50, null, false],
] as const) {
  test(`a brightness of ${asked} % is ${is ? "" : "not "}reached with the level ${told}`, () => {
    assert.equal(isReached("brightness", asked, { brightness: 10 }, { brightness: told }), is);
  });
}

test("a near value that was there before the command is not its answer, and an equal one is", () => {
  assert.equal(isReached("brightness", 50, { brightness: 125 }, { brightness: 125 }), false);
  assert.equal(isReached("brightness", 50, { brightness: 128 }, { brightness: 128 }), true);
});

for (const [kelvin, is] of [
  [4_060, true],
  [3_940, true],
  [4_062, false],
  [3_938, false],
] as const) {
  test(`4000 K is ${is ? "" : "not "}reached with ${kelvin} K`, () => {
    const [before, now] = [{ color_temp_kelvin: 2_500 }, { color_temp_kelvin: kelvin }];
    assert.equal(isReached("colorTemperature", 4_000, before, now), is);
  });
}

for (const [asked, told, is] of [
  [[120, 80], [125, 75], true],
  [[120, 80], [115, 85], true],
  [[120, 80], [126, 80], false],
  [[120, 80], [120, 86], false],
  [[2, 80], [357, 80], true],
  [[357, 80], [2, 80], true],
  [[120, 4], [300, 0], true],
  [[120, 5], [300, 5], false],
] as const) {
  test(`the colour ${asked.join()} is ${is ? "" : "not "}reached with ${told.join()}`, () => {
    const [hue, saturation] = asked;
    const [before, now] = [{ hs_color: [10, 10] }, { hs_color: told }];
    assert.equal(isReached("color", { hue, saturation }, before, now), is);
  });
}

test("a missing colour does not confirm a colour command; an effect is confirmed only by the same effect", () => {
  const color = { hue: 120, saturation: 80 };

  assert.equal(isReached("color", color, { hs_color: [1, 1] }, { hs_color: null }), false);
  assert.equal(isReached("effect", "a", { effect: "b" }, { effect: "a" }), true);
  assert.equal(isReached("effect", "a", { effect: "a" }, { effect: "b" }), false);
});

for (const [domain, field, asked, near, far, attributes] of [
  [
    "climate",
    "targetTemperature",
    21,
    { temperature: 21.3 },
    { temperature: 21.5 },
    { supported_features: 1 },
  ],
  [
    "climate",
    "targetTemperatureLow",
    21,
    { target_temp_low: 20.7 },
    { target_temp_low: 20.5 },
    { supported_features: 2 },
  ],
  [
    "climate",
    "targetTemperatureHigh",
    21,
    { target_temp_high: 21.3 },
    { target_temp_high: 21.5 },
    { supported_features: 2 },
  ],
  [
    "media_player",
    "volume",
    20,
    { volume_level: 0.23 },
    { volume_level: 0.24 },
    { supported_features: 4 },
  ],
  [
    "cover",
    "position",
    50,
    { current_position: 53 },
    { current_position: 54 },
    { supported_features: 4 },
  ],
  [
    "cover",
    "tilt",
    50,
    { current_tilt_position: 47 },
    { current_tilt_position: 46 },
    { supported_features: 128 },
  ],
  ["number", "value", 5, undefined, undefined, { min: 0, max: 10 }],
] as const) {
  if (near === undefined) continue;
  test(`${field} ${asked} is reached with ${JSON.stringify(near)}, not with ${JSON.stringify(far)}`, () => {
    const of = (more: object) => entity(domain, "on", { ...attributes, ...more });

    assert.equal(isConfirmed({ [field]: asked }, of({}), of(near)), true);
    assert.equal(isConfirmed({ [field]: asked }, of({}), of(far)), false);
  });
}

test("a command is reached when all of its values are", () => {
  const relay = (state: string) => entity("switch", state);

  assert.equal(isConfirmed({ on: true }, relay("off"), relay("on")), true);
  assert.equal(isConfirmed({ on: true }, relay("off"), relay("off")), false);
  const light = (state: string, brightness: number) =>
    entity("light", state, { brightness, supported_color_modes: ["brightness"] });
  const command = { on: true, brightness: 50 };
  assert.equal(isConfirmed(command, light("off", 0), light("on", 10)), false);
  assert.equal(isConfirmed(command, light("off", 0), light("on", 128)), true);
});

test("attributes that are numbers as texts count, and others do not", () => {
  const state = (volume_level: unknown) =>
    view(entity("media_player", "on", { volume_level })).state["volume"];

  assert.equal(state("0.5"), 50);
  for (const odd of ["", " ", "loud", NaN, Infinity, "Infinity", true, null]) {
    assert.equal(state(odd), undefined, String(odd));
  }
});

test("lists of choices keep unique texts, the first 300 of at most 1000 characters", () => {
  const options = (list: unknown) => capabilities("select", { options: list })["value"];
  const many = Array.from({ length: 301 }, (_, at) => `${at}`);

  assert.deepEqual(options(["a", 1, "a", null, "b"]), { type: "choice", values: ["a", "b"] });
  assert.deepEqual(options(["x".repeat(1_001)]), { type: "choice", values: ["x".repeat(1_000)] });
  assert.deepEqual(options(many), { type: "choice", values: many.slice(0, 300) });
  assert.equal(options("a"), undefined);
  assert.equal(options([]), undefined);
});

/** The kinds of bad values that an attribute may have. */
const ODD = [undefined, null, "", "x", "1e999", -1, 0, 33.33, 1e9, NaN, true, [], [null, {}], {}];

test("whatever an entity claims, its device fits the vocabulary and its values fit the device", () => {
  const names = new Set(
    Object.values(shapes).flatMap((shape) =>
      Object.keys(shape).map((path) => path.replace(/^attributes\.|[?]$|\[\]/g, "")),
    ),
  );
  const random = generator(7);
  for (const domain of DOMAINS.filter((name) => name !== "scene")) {
    for (let run = 0; run < 60; run++) {
      const attributes = Object.fromEntries(
        [...names].map((name) => [name, ODD[random(ODD.length)]] as const),
      );
      const features = [0, 65_535, 2 ** 21 - 1, random(2 ** 21)][random(4)];
      const state = ["on", "open", "unknown", "3", "", "2026-11-20"][random(6)] ?? "";
      const of = view(entity(domain, state, { ...attributes, supported_features: features }));

      assert.deepEqual(faultsOfVocabulary(of.kind, of.capabilities), [], `${domain} ${run}`);
      const others = Object.keys(of.capabilities).filter(
        (name) => canonicalCapability(of.kind, name) === undefined,
      );
      assert.deepEqual(others, [], `${domain} ${run}`);
      const description = {
        nativeId: "x",
        name: "X",
        ...of,
        state: of.state,
      };
      assert.deepEqual(faultsOf(DeviceDescription, description), [], `${domain} ${run}`);
      for (const each of [of, of.extra]) {
        if (each) assert.deepEqual(faultsOfState(each.capabilities, each.state), []);
      }
    }
  }
});

/** Numbers below a bound, the same in each run. */
function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

test("fields that are stored here, and devices that never report, are confirmed by the answer", () => {
  const siren = entity("siren", "off", { supported_features: 31, available_tones: ["fire"] });
  for (const command of [{ tone: "fire" }, { volume: 40 }, { duration: 5 }]) {
    assert.equal(isConfirmedByAnswer(command, siren), true, JSON.stringify(command));
  }
  assert.equal(isConfirmed({ on: true, tone: "fire" }, siren, siren), false);

  const shed = entity("cover", "unknown", { assumed_state: true, supported_features: 15 });
  assert.equal(isConfirmedByAnswer({ position: 50, open: true }, shed), true);
  const blind = entity("cover", "unknown", { assumed_state: false, supported_features: 15 });
  assert.equal(isConfirmed({ position: 50 }, blind, blind), false);
});

test("a scene, which is not a device, is confirmed by the time of its activation", () => {
  const button = domainOf("button");
  assert.ok(button);
  const before = { entity: entity("scene", "2026-11-20T12:00:00+00:00") };
  const isDone = confirmsAll({ press: true }, button, before);

  assert.equal(isDone(before, true), false);
  assert.equal(isDone({ entity: entity("scene", "2026-11-20T12:00:01+00:00") }, false), true);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { StateValue } from "@mantel/plugin-sdk";
import { layoutIn, placeOf, placesIn } from "./definitions.ts";

const [TOLD, SETTABLE, ALL] = [1, 2, 7];

const value = (type: string, name: string, more: object = {}) => ({
  type,
  name,
  property: name,
  access: ALL,
  ...more,
});
const state = (property = "state", more: object = {}) =>
  value("binary", "state", { property, value_on: "ON", value_off: "OFF", ...more });
const gang = (endpoint: string) => ({
  type: "switch",
  endpoint,
  features: [state(`state_${endpoint}`, { endpoint })],
});
const switchOf = (property: string) => ({ type: "switch", features: [state(property)] });
const setpoint = (name: string) =>
  value("numeric", name, { unit: "°C", value_min: 5, value_max: 30 });
const climate = { type: "climate", features: [setpoint("occupied_heating_setpoint")] };
const light = { type: "light", features: [state(), value("numeric", "brightness")] };
const modes = (...values: string[]) => value("enum", "mode", { property: "fan_mode", values });
const fan = (...features: object[]) => ({
  type: "fan",
  features: [state("fan_state"), ...features],
});
const coverState = value("enum", "state", { values: ["OPEN", "CLOSE", "STOP"], access: 3 });

/** Capabilities of a device that exposes these values, by place. */
function featuresIn(...exposes: object[]) {
  const { features } = layoutIn(exposes);
  return new Map(features.map((feature) => [placeOf(feature), feature]));
}

test("the switch of a thermostat is a part, or an extra with the name of what it switches", () => {
  assert.deepEqual(
    placesIn([climate, switchOf("window_detection"), switchOf("away_mode"), switchOf("state")]),
    ["targetTemperature", "extra/windowDetection", "extra/awayMode", "switch/on"],
  );
  assert.equal(
    featuresIn(climate, switchOf("window_detection")).get("extra/windowDetection")?.group,
    "configuration",
  );
});

for (const [words, on, off] of [
  [["OPEN", "CLOSE"], "OPEN", "CLOSE"],
  [["CLOSE", "OPEN"], "OPEN", "CLOSE"],
  [["YES", "NO"], "YES", "NO"],
  [[true, false], true, false],
] as const) {
  test(`a window that is reported as ${words.join(" or ")} is open or not`, () => {
    const [value_on, value_off] = words;
    const window = value("binary", "window_open", { access: TOLD, value_on, value_off });
    const windowOpen = featuresIn(climate, window).get("windowOpen");

    assert.deepEqual(
      [on, off, "?"].map((raw) => windowOpen?.read(raw)),
      [true, false, null],
    );
  });
}

test("a thermostat that heats and cools has a low and a high target", () => {
  const features = [setpoint("occupied_heating_setpoint"), setpoint("occupied_cooling_setpoint")];

  assert.deepEqual(placesIn([{ type: "climate", features }]), [
    "targetTemperatureLow",
    "targetTemperatureHigh",
  ]);
});

test("the modes and actions of a thermostat have canonical words", () => {
  const features = [
    value("enum", "system_mode", { values: ["off", "heat", "fan_only", "emergency_heating"] }),
    value("enum", "running_state", { values: ["idle", "heat", "cool", "fan_only"], access: TOLD }),
  ];
  const found = featuresIn({ type: "climate", features });
  const mode = found.get("mode");

  assert.deepEqual(mode?.capability, {
    type: "choice",
    values: ["off", "heat", "fan-only", "emergency-heating"],
  });
  assert.equal(mode.read("fan_only"), "fan-only");
  assert.equal(mode.write?.("fan-only"), "fan_only");
  assert.deepEqual(found.get("action")?.capability, {
    type: "choice",
    readOnly: true,
    values: ["idle", "heating", "cooling", "fan"],
  });
});

test("a climate device that cools and dries is an air conditioner, with the settings of a thermostat", () => {
  const withModes = (...values: string[]) => ({
    type: "climate",
    features: [value("enum", "system_mode", { values })],
  });
  const swing = value("enum", "swing_mode", { values: ["on", "off"] });

  const cooler = layoutIn([withModes("off", "cool", "dry", "fan_only"), swing]);

  assert.equal(cooler.kind, "air-conditioner");
  assert.deepEqual(cooler.features.map(placeOf), ["mode", "swing"]);
  assert.equal(layoutIn([withModes("off", "heat", "cool", "fan_only")]).kind, "thermostat");
  assert.deepEqual(layoutIn([light, withModes("cool", "dry")]).parts, [
    { id: "thermostat", kind: "air-conditioner", name: "thermostat" },
  ]);
});

test("a switch that counts water or has irrigation is a valve, and so are its gangs", () => {
  const flow = value("numeric", "flow", { unit: "m³/h", access: TOLD });
  const valve = layoutIn([switchOf("state"), flow]);

  assert.equal(valve.kind, "valve");
  assert.deepEqual(valve.features.map(placeOf), ["on", "flow"]);
  const plan = value("text", "irrigation_schedule_status", { access: TOLD });
  assert.deepEqual(
    layoutIn([gang("l1"), gang("l2"), plan]).parts.map(({ kind }) => kind),
    ["valve", "valve"],
  );
  const power = value("numeric", "power", { unit: "W", access: TOLD });
  assert.equal(layoutIn([switchOf("state"), flow, power]).kind, "plug");
});

test("the fan of a thermostat is a part if it has a switch, and a setting if it has only modes", () => {
  assert.deepEqual(placesIn([climate, fan(modes("low", "high", "auto"))]), [
    "targetTemperature",
    "fan/on",
    "fan/speed",
    "fan/preset",
  ]);
  assert.deepEqual(placesIn([climate, { type: "fan", features: [modes("low", "on", "auto")] }]), [
    "targetTemperature",
    "fanMode",
  ]);
});

test("the light of a fan is a part of it, and a fan of a light a part of that", () => {
  const withLight = layoutIn([fan(modes("low", "high")), light]);
  assert.equal(withLight.kind, "fan");
  assert.deepEqual(withLight.parts, [{ id: "light", kind: "light", name: "light" }]);
  assert.deepEqual(withLight.features.map(placeOf), [
    "on",
    "speed",
    "light/on",
    "light/brightness",
  ]);
  assert.equal(layoutIn([light, fan(modes("low", "high"))]).kind, "light");
});

test("a switch of several gangs has an own on only if it has a switch without endpoint", () => {
  assert.deepEqual(placesIn([gang("l1"), gang("l2")]), ["l1/on", "l2/on"]);
  assert.deepEqual(placesIn([switchOf("state"), gang("l1"), gang("l2")]), ["on", "l1/on", "l2/on"]);
  assert.deepEqual(placesIn([gang("l1")]), ["on"]);
});

test("the gangs of a plug are plugs, and have their measurements", () => {
  const power = (endpoint: string) =>
    value("numeric", "power", { endpoint, property: `power_${endpoint}`, access: 1, unit: "W" });
  const { kind, parts, features } = layoutIn([gang("l1"), gang("l2"), power("l1"), power("l2")]);

  assert.equal(kind, "plug");
  assert.deepEqual(
    parts.map((part) => part.kind),
    ["plug", "plug"],
  );
  assert.deepEqual(features.map(placeOf), ["l1/on", "l2/on", "l1/power", "l2/power"]);
});

test("several sensors of one kind are parts, and one is the device itself", () => {
  const at = (endpoint: string) =>
    value("numeric", "temperature", {
      endpoint,
      property: `temperature_${endpoint}`,
      access: 1,
      unit: "°C",
    });

  assert.deepEqual(placesIn([at("1"), at("2")]), ["l1/temperature", "l2/temperature"]);
  assert.deepEqual(placesIn([at("1")]), ["temperature"]);
});

test("a cover has open, close and stop, with and without a position", () => {
  const position = value("numeric", "position", { value_min: 0, value_max: 100 });

  assert.deepEqual(placesIn([{ type: "cover", features: [coverState] }]), [
    "open",
    "close",
    "stop",
    "extra/state",
  ]);
  const found = featuresIn({ type: "cover", features: [coverState, position] });
  assert.deepEqual([...found.keys()], ["open", "close", "stop", "position"]);
  assert.deepEqual(found.get("open")?.capability, { type: "command" });
  assert.equal(found.get("open")?.write?.(true), "OPEN");
  assert.equal(found.get("open")?.isTold, false, "a command has no state");
});

for (const [name, values] of [
  ["motor_state", ["opening", "closing", "stopped"]],
  ["moving", ["UP", "DOWN", "STOP"]],
  ["work_state", ["opening", "closing", "standby"]],
] as const) {
  test(`${name} of a cover is its action`, () => {
    const movement = value("enum", name, { values, access: TOLD });
    const action = featuresIn({ type: "cover", features: [coverState] }, movement).get("action");

    assert.deepEqual(
      values.map((each) => action?.read(each)),
      ["opening", "closing", "stopped"],
    );
  });
}

test("a lock tells if its bolt is stuck", () => {
  const lockState = value("enum", "lock_state", {
    access: TOLD,
    values: ["not_fully_locked", "locked", "unlocked"],
  });
  const toggle = state("state", { value_on: "LOCK", value_off: "UNLOCK" });
  const found = featuresIn({ type: "lock", features: [toggle, lockState] });
  const read = (raw: unknown) => found.get("jammed")?.read(raw);

  assert.deepEqual([...found.keys()], ["locked", "jammed"]);
  assert.equal(found.get("locked")?.write?.(true), "LOCK");
  assert.deepEqual(["not_fully_locked", "locked", "?"].map(read), [true, false, null]);
});

test("a device that makes noise is a siren, and is silenced by the same field", () => {
  const mode = value("enum", "mode", {
    values: ["stop", "burglar", "emergency"],
    access: SETTABLE,
  });
  const warning = value("composite", "warning", { features: [mode], access: SETTABLE });
  const { kind, features } = layoutIn([warning]);
  const [on, warningMode] = features;

  assert.equal(kind, "siren");
  assert.deepEqual([on?.write?.(true), on?.write?.(false)], ["emergency", "stop"]);
  assert.deepEqual(on?.path, ["warning", "mode"]);
  assert.equal(warningMode?.name, "warningMode");
  assert.equal(layoutIn([value("binary", "alarm")]).kind, "siren");
});

test("a choice of noises with a word that ends them is a siren, which sounds as loud as it can", () => {
  const choice = (values: readonly string[]) =>
    layoutIn([value("enum", "alarm", { values, access: TOLD | SETTABLE })]);
  const { kind, features } = choice(["sound", "light", "sound_light", "off"]);
  const [on, alarm] = features;

  assert.equal(kind, "siren");
  assert.deepEqual([on?.write?.(true), on?.write?.(false)], ["sound_light", "off"]);
  assert.deepEqual(
    ["light", "off", "?"].map((raw) => on?.read(raw)),
    [true, false, null],
  );
  assert.deepEqual([alarm?.name, alarm?.group], ["alarm", "main"]);
  assert.equal(choice(["beep", "ring"]).kind, "sensor"); // nothing ends it
});

test("an alarm that is only told is a yes or no, not an alarm system", () => {
  const { kind, features } = layoutIn([value("binary", "alarm", { access: TOLD })]);

  assert.deepEqual([kind, features.map(({ name }) => name)], ["binary-sensor", ["active"]]);
});

for (const [values, pairs] of [
  [
    ["off", "low", "medium", "high", "on"],
    [
      ["off", 0],
      ["low", 100 / 3],
      ["high", 100],
      ["on", null],
    ],
  ],
  [
    ["low", "high", "smart"],
    [
      ["low", 50],
      ["high", 100],
      ["smart", null],
    ],
  ],
  [
    ["auto", "1", "2", "10", "4"],
    [
      ["1", 25],
      ["4", 75],
      ["10", 100],
      ["auto", null],
    ],
  ],
  [
    ["on", "high"],
    [
      ["high", 100],
      ["on", null],
    ],
  ],
] as const) {
  test(`a fan with the modes ${values.join(", ")} has speeds of equal steps`, () => {
    const speed = featuresIn(fan(modes(...values))).get("speed");

    for (const [raw, percent] of pairs as readonly (readonly [string, StateValue])[]) {
      assert.equal(speed?.read(raw), percent, raw);
      assert.equal(speed?.isNothing?.(raw), true);
      if (percent !== null) assert.equal(speed?.write?.(percent), raw);
    }
  });
}

for (const [count, range, slowest] of [
  [1, { value_min: 1, value_max: 1 }, 1],
  [5, { value_min: 1, value_max: 5 }, 1],
  [200, { value_min: 1, value_max: 200 }, 1],
  [4, { value_min: 0, value_max: 100, value_step: 25 }, 25],
  [3, { value_min: 0, value_max: 3, value_step: 0 }, 1],
] as const) {
  test(`a fan with ${count} numbered speeds has steps of ${100 / count} %`, () => {
    const speed = featuresIn(fan(value("numeric", "speed", range))).get("speed");
    const min = range.value_min === 0 ? 0 : 100 / count;

    assert.deepEqual(speed?.capability, {
      type: "number",
      min,
      max: 100,
      step: 100 / count,
      unit: "%",
    });
    assert.equal(speed.write?.(100 / count), slowest);
    assert.equal(speed.read(slowest), 100 / count);
    assert.equal(speed.write?.(100), range.value_max);
    assert.equal(speed.read(range.value_max), 100);
    assert.equal(speed.write?.(0), range.value_min === 0 ? 0 : slowest);
  });
}

test("a percentage between two of three speeds of a fan is the higher one", () => {
  const range = { value_min: 0, value_max: 3, value_step: 1 };
  const speed = featuresIn(fan(value("numeric", "speed", range))).get("speed");

  assert.deepEqual(
    [0, 33, 34, 66, 67].map((percent) => speed?.write?.(percent)),
    [0, 1, 2, 2, 3],
  );
});

test("a fan whose speeds cannot be counted has a number", () => {
  const places = (range: object) => placesIn([fan(value("numeric", "speed", range))]);

  assert.deepEqual(places({ value_min: 9, value_max: 1 }), ["on", "extra/speedValue"]);
  assert.deepEqual(places({ value_min: 0, value_max: 1e9 }), ["on", "extra/speedValue"]);
});

const list = (item_type: object, more: object = {}) =>
  value("list", "gradient", { item_type, length_min: 1, length_max: 3, ...more });

for (const [item, text, sent] of [
  [{ type: "text" }, "#ff0000, #00ff00", ["#ff0000", "#00ff00"]],
  [{ type: "text" }, '["#ff0000"]', ["#ff0000"]],
  [{ type: "numeric" }, "1, 2.5", [1, 2.5]],
  [{ type: "enum", values: ["a", "b"] }, "b, a", ["b", "a"]],
  [{ type: "binary", value_on: "ON", value_off: "OFF" }, "ON, OFF", ["ON", "OFF"]],
  [{ type: "composite" }, '[{"r": 1}]', [{ r: 1 }]],
] as const) {
  test(`the list ${text} is sent as ${JSON.stringify(sent)}, and confirmed by it`, () => {
    const gradient = featuresIn(list(item)).get("extra/gradient");

    assert.deepEqual(gradient?.capability, { type: "text" });
    assert.deepEqual(gradient.write?.(text), sent);
    assert.equal(gradient.confirms?.(sent, gradient.write?.(text)), true);
    assert.equal(gradient.confirms?.([], gradient.write?.(text)), false);
    assert.deepEqual(gradient.write?.(gradient.read(sent) as string), sent);
  });
}

for (const [item, text, why] of [
  [{ type: "text" }, "", /gradient must be a list of 1 to 3 elements/],
  [{ type: "text" }, "a, b, c, d", /gradient must be a list of 1 to 3 elements/],
  [{ type: "numeric" }, "1, x", /gradient must be a list of numbers/],
  [{ type: "enum", values: ["a", "b"] }, "c", /gradient must be a list of a, b/],
  [{ type: "composite" }, "red", /gradient must be a JSON list/],
  [{ type: "text" }, "[1", /gradient must be a JSON list/],
] as const) {
  test(`"${text}" as a list of ${item.type} is refused`, () => {
    const gradient = featuresIn(list(item)).get("extra/gradient");

    assert.throws(() => gradient?.write?.(text), { code: "invalid", message: why });
  });
}

test("a single word that is never reported is a command", () => {
  const identify = value("enum", "identify", { values: ["identify"], access: SETTABLE });
  const found = featuresIn(identify).get("extra/identify");

  assert.deepEqual(found?.capability, { type: "command" });
  assert.equal(found.write?.(true), "identify");
});

test("of 300 exposes configuration is left out first, diagnostics next, and readings last", () => {
  const many = (count: number, name: string, more: object) =>
    Array.from({ length: count }, (_, at) => value("numeric", `${name}_${at}`, more));
  const power = value("numeric", "power", { access: TOLD, unit: "W" });
  const exposes = [
    ...many(150, "tuning", { category: "config" }),
    ...many(100, "counter", { category: "diagnostic", access: TOLD }),
    ...many(148, "level", { access: TOLD }),
    ...[switchOf("state"), power],
  ];
  const { features, leftOut } = layoutIn(exposes);

  assert.equal(features.length, 200);
  assert.equal(leftOut.length, 200);
  assert.ok(features.some(({ name }) => name === "power"));
  assert.deepEqual(
    ["main", "diagnostic", "configuration"].map(
      (group) => features.filter((each) => each.group === group).length,
    ),
    [148, 50, 0],
  );
  assert.deepEqual(leftOut.slice(0, 2), ["tuning0", "tuning1"]);
});

test("a device that says it is two things is the first, and the other is a part", () => {
  const { kind, parts, features } = layoutIn([
    { type: "lock", features: [state("state", { value_on: "LOCK", value_off: "UNLOCK" })] },
    { type: "cover", features: [coverState] },
  ]);

  assert.equal(kind, "lock");
  assert.deepEqual(parts, [{ id: "cover", kind: "cover", name: "cover" }]);
  assert.deepEqual(features.map(placeOf), [
    "locked",
    "cover/open",
    "cover/close",
    "cover/stop",
    "extra/state",
  ]);
});

test("a switch that repeats the switch of a light is not a part of it", () => {
  assert.deepEqual(placesIn([switchOf("state"), light, gang("l1")]), ["on", "brightness", "l1/on"]);
});

test("a cover without any command has none", () => {
  const reported = { ...coverState, access: TOLD };
  const jog = { ...coverState, values: ["JOG"] };

  assert.deepEqual(placesIn([{ type: "cover", features: [reported] }]), ["extra/state"]);
  assert.deepEqual(placesIn([{ type: "cover", features: [jog] }]), ["extra/state"]);
  assert.deepEqual(placesIn([{ type: "cover", features: [] }]), []);
});

test("a number with a step of zero has none, and units that do not convert leave the number", () => {
  const level = value("numeric", "level", { value_step: 0, unit: "portion", access: 3 });

  assert.deepEqual(featuresIn(level).get("extra/level")?.capability, { type: "number" });
});

test("100 endpoints make 50 parts, and what has no place there is among the extras", () => {
  const { parts, features } = layoutIn(Array.from({ length: 100 }, (_, at) => gang(`l${at}`)));

  assert.equal(parts.length, 50);
  assert.equal(features.length, 100);
  assert.deepEqual(
    [50, 50],
    [
      features.filter(({ part }) => part !== undefined).length,
      features.filter(({ group }) => group !== undefined).length,
    ],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capabilities, Capability, Device, DeviceState } from "@mantel/plugin-sdk/device";
import { createFormats } from "@mantel/plugin-sdk/format";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import { type Look, lookOf as lookWith } from "@mantel/plugin-sdk/ui/look";
import { oklchHue } from "@mantel/plugin-sdk/ui/oklch";
import { deviceOf } from "../../helpers/device.ts";

/** As an English home says it. */
const SPEECH: I18n = {
  t: (text) => text,
  fmt: createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" }),
};
const lookOf = (thing: Device): Look => lookWith(thing, SPEECH);

const PERCENT = { type: "number", min: 0, max: 100, unit: "%" } as const;
const SWITCH = { type: "boolean" } as const;
const DIMMABLE = { on: SWITCH, brightness: PERCENT };

test("a lamp that is on shows its level and is turned off by a tap", () => {
  const look = lookOf(device("light", DIMMABLE, { on: true, brightness: 62.4 }));

  assert.equal(look.value, "62");
  assert.deepEqual(look.level, { field: "brightness", percent: 62.4 });
  assert.deepEqual(look.tap, { on: false });
});

test("a lamp that is off shows no level and can be dragged up from zero", () => {
  const look = lookOf(device("light", DIMMABLE, { on: false, brightness: 80 }));

  assert.equal(look.value, "Off");
  assert.equal(look.level?.percent, 0);
  assert.deepEqual(look.tap, { on: true });
});

test("a pending value is shown before it is confirmed", () => {
  const lamp = device("light", DIMMABLE, { on: true, brightness: 62 });

  assert.equal(lookOf({ ...lamp, pending: { brightness: 35 } }).value, "35");
});

test("the hue is the lamp's colour, or the theme's hue for white", () => {
  const colored = (saturation: number): string =>
    lookOf(device("light", DIMMABLE, { on: true, brightness: 5, color: { hue: 240, saturation } }))
      .hue;

  assert.equal(colored(80), "264");
  assert.equal(colored(5), "var(--mantel-hue-light)");
});

test("hues are converted as in CSS", () => {
  // oklch(from hsl(h 100% 50%) l c h), rounded.
  const hues = [0, 60, 120, 180, 240, 300].map(oklchHue);

  assert.deepEqual(hues, [29, 110, 142, 195, 264, 328]);
});

test("a plug without a level is on or off", () => {
  const { value, level, tap } = lookOf(device("plug", { on: SWITCH }, { on: true, power: 12 }));

  assert.deepEqual({ value, level, tap }, { value: "On", level: undefined, tap: { on: false } });
});

test("a running program shows its remaining time", () => {
  const look = lookOf(device("plug", { on: SWITCH }, { on: true, remaining: 23.2, progress: 71 }));

  assert.deepEqual([look.value, look.unit, look.progress], ["24", "min", 71]);
});

test("a cover shows its position and is opened or closed by a tap", () => {
  const at = (position: number) => lookOf(device("cover", { position: PERCENT }, { position }));

  assert.deepEqual([at(0).value, at(40).value, at(100).value], ["Closed", "40", "Open"]);
  assert.deepEqual([at(0).tap, at(40).tap], [{ position: 100 }, { position: 0 }]);
});

test("unlocking needs a confirmation, locking does not", () => {
  const lock = (locked: boolean) => lookOf(device("lock", { locked: SWITCH }, { locked }));

  assert.deepEqual([lock(true).ask, lock(true).tap], ["Unlock?", { locked: false }]);
  assert.deepEqual([lock(false).ask, lock(false).tap], [undefined, { locked: true }]);
});

test("sensors show their measured value and cannot be tapped", () => {
  const power = lookOf(device("sensor", { power: { type: "number", unit: "W" } }, { power: 1234 }));
  const door = lookOf(device("binary-sensor", { contact: SWITCH }, { contact: false }));

  assert.deepEqual([power.value, power.unit, power.tap], ["1.2", "kW", undefined]);
  assert.deepEqual([door.value, door.on, door.tap], ["Open", true, undefined]);
});

test("a device without any known state is rendered", () => {
  for (const kind of ["light", "sensor", "binary-sensor", "cover", "vacuum", "alarm"] as const) {
    assert.ok(lookOf(device(kind, {}, {})).value.length > 0, kind);
  }
});

test("the icon depends on the name, the measured field, the state or the kind", () => {
  const named = (kind: Device["kind"], name: string, state: DeviceState = {}): string =>
    iconOf({ ...device(kind, {}, state), name });

  assert.equal(named("light", "Sofa lamp"), "mdi:floor-lamp");
  assert.equal(named("light", "Nameless"), "mdi:lightbulb-outline");
  assert.equal(named("lock", "Door", { locked: false }), "mdi:lock-open-variant");
  assert.equal(iconOf(device("sensor", { humidity: PERCENT }, {})), "mdi:water-percent");
});

for (const [kind, hue] of [
  ["light", "light"],
  ["group", "light"],
  ["fan", "cool"],
  ["thermostat", "heat"],
  ["media-player", "media"],
  ["plug", "info"],
] as const) {
  test(`a ${kind} has the theme's hue ${hue}`, () => {
    const look = lookOf(device(kind, { on: SWITCH }, { on: true }));
    assert.equal(look.hue, `var(--mantel-hue-${hue})`);
  });
}

for (const [state, shown] of [
  [{ on: true }, { on: true, value: "On" }],
  [
    { on: true, mode: "auto" },
    { on: true, value: "Auto" },
  ],
  [
    { on: true, mode: "heat" },
    { on: true, value: "On" },
  ],
  [
    { on: true, remaining: 0 },
    { on: true, value: "On" },
  ],
  [
    { on: true, remaining: 5 },
    { on: true, value: "5", unit: "min" },
  ],
  [
    { on: true, remaining: 5, progress: null },
    { on: true, value: "5", unit: "min" },
  ],
  [
    { on: false, mode: "heat" },
    { on: false, value: "Off" },
  ],
  [{ mode: "heat" }, { on: false, value: "Heat" }],
  [{ mode: "" }, { on: false, value: "–" }],
  [{ mode: 7 }, { on: false, value: "–" }],
] as const) {
  test(`a switch with ${JSON.stringify(state)} shows ${shown.value}`, () => {
    const { hue: _, ...look } = lookOf(device("switch", {}, state));
    assert.deepEqual(look, shown);
  });
}

for (const [capability, hasLevel] of [
  [PERCENT, true],
  [{ ...PERCENT, readOnly: true }, false],
  [{ type: "number", min: 0, max: 100 }, false],
  [{ type: "choice", values: ["low", "high"] }, false],
] as readonly (readonly [Capability, boolean])[]) {
  test(`a fan whose speed is ${JSON.stringify(capability)} has ${hasLevel ? "a" : "no"} level to drag`, () => {
    const look = lookOf(device("fan", { on: SWITCH, speed: capability }, { on: true, speed: 40 }));

    assert.deepEqual(look.level, hasLevel ? { field: "speed", percent: 40 } : undefined);
    assert.deepEqual([look.value, look.unit], hasLevel ? ["40", "%"] : ["On", undefined]);
  });
}

test("a level that is not known cannot be dragged", () => {
  const look = lookOf(device("light", DIMMABLE, { on: true, brightness: null }));
  assert.deepEqual([look.value, look.level], ["On", undefined]);
});

test("a color of 15 % saturation is a colour", () => {
  const color = { hue: 240, saturation: 15 };
  assert.equal(lookOf(device("light", { on: SWITCH }, { on: true, color })).hue, "264");
});

const CAPABILITIES: Readonly<Record<string, Capabilities>> = {
  cover: { position: PERCENT },
  lock: { locked: SWITCH },
};
for (const [kind, state, look] of [
  [
    ...["cover", { position: 40 }],
    {
      hue: "cool",
      on: true,
      value: "40",
      unit: "%",
      tap: { position: 0 },
      level: { field: "position", percent: 40 },
    },
  ],
  [
    ...["cover", { position: 0 }],
    {
      hue: "cool",
      on: false,
      value: "Closed",
      tap: { position: 100 },
      level: { field: "position", percent: 0 },
    },
  ],
  ["cover", {}, { hue: "cool", on: false, value: "–" }],
  [
    "lock",
    { locked: true },
    { hue: "ok", on: true, value: "Locked", tap: { locked: false }, ask: "Unlock?" },
  ],
  ["lock", { locked: false }, { hue: "warn", on: true, value: "Unlocked", tap: { locked: true } }],
  ["lock", {}, { hue: "warn", on: false, value: "–", tap: { locked: true } }],
  ["binary-sensor", { contact: true }, { hue: "warn", on: false, value: "Closed" }],
  ["binary-sensor", { contact: false }, { hue: "warn", on: true, value: "Open" }],
  ["binary-sensor", { battery: 80, motion: true }, { hue: "info", on: true, value: "Detected" }],
  ["binary-sensor", { motion: false }, { hue: "info", on: false, value: "Clear" }],
  ["binary-sensor", { motion: null }, { hue: "warn", on: false, value: "–" }],
] as readonly (readonly [Device["kind"], DeviceState, Look])[]) {
  test(`a ${kind} with ${JSON.stringify(state)} shows ${look.value}`, () => {
    const shown = lookOf(device(kind, CAPABILITIES[kind] ?? {}, state));
    assert.deepEqual(shown, { ...look, hue: `var(--mantel-hue-${look.hue})` });
  });
}

test("a sensor shows its first number that is not its battery", () => {
  const capabilities: Capabilities = {
    name: { type: "text" },
    battery: PERCENT,
    humidity: PERCENT,
    power: { type: "number", unit: "W" },
  };
  const shown = (state: DeviceState) => lookOf(device("sensor", capabilities, state));

  assert.deepEqual(shown({ name: 7, battery: 80, humidity: 40, power: 3 }), {
    hue: "var(--mantel-hue-info)",
    on: false,
    value: "40",
    unit: "%",
  });
  assert.equal(shown({ battery: 80, humidity: null, power: 3 }).value, "3");
  assert.deepEqual(shown({ battery: 80 }), {
    hue: "var(--mantel-hue-info)",
    on: false,
    value: "–",
  });
});

function device(kind: Device["kind"], capabilities: Capabilities, state: DeviceState): Device {
  return deviceOf({ kind, capabilities, state });
}

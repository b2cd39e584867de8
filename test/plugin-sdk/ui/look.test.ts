import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capabilities, Device, DeviceState } from "@mantel/plugin-sdk/device";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import { type Look, lookOf as lookWith } from "@mantel/plugin-sdk/ui/look";
import { oklchHue } from "@mantel/plugin-sdk/ui/oklch";
import { createFormats } from "../../../host/dashboard/format.ts";
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

function device(kind: Device["kind"], capabilities: Capabilities, state: DeviceState): Device {
  return deviceOf({ kind, capabilities, state });
}

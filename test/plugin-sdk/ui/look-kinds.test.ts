import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capabilities, Device, DeviceKind, DeviceState } from "@mantel/plugin-sdk/device";
import { createFormats } from "@mantel/plugin-sdk/format";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { translate } from "@mantel/plugin-sdk/translate";
import { type Look, lookOf } from "@mantel/plugin-sdk/ui/look";
import { deviceOf } from "../../helpers/device.ts";

const SPEECH: I18n = {
  t: (text, values) => translate(text, { locale: "en", values }),
  fmt: createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" }),
};
const COMMAND = { type: "command" } as const;
const SWITCH = { type: "boolean" } as const;
const FACT = { type: "boolean", readOnly: true } as const;
const TEXT = { type: "text", readOnly: true } as const;
const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
const DEGREES = { type: "number", min: 5, max: 30, step: 0.5, unit: "°C" } as const;
const READING = { type: "number", unit: "°C", step: 0.1, readOnly: true } as const;
const choice = (...values: string[]) => ({ type: "choice", values }) as const;
const OPENS: Capabilities = { open: COMMAND, stop: COMMAND, close: COMMAND };
const CLIMATE: Capabilities = {
  temperature: READING,
  targetTemperature: DEGREES,
  targetTemperatureLow: DEGREES,
  targetTemperatureHigh: DEGREES,
  mode: choice("off", "heat", "cool", "heat-cool"),
};
const ROBOT: Capabilities = { start: COMMAND, pause: COMMAND, dock: COMMAND };
const ALARM: Capabilities = { mode: choice("disarmed", "home", "away", "night", "vacation") };

/** The text of a tile, and the commands of a tap and of its buttons. */
interface Said {
  readonly value: string;
  readonly note?: string;
  readonly tap?: object;
  readonly ask?: string;
  readonly buttons?: object;
}

function says(kind: DeviceKind, capabilities: Capabilities, state: DeviceState, said: Said): void {
  const { value, note, tap, ask, buttons = {} } = said;
  void test(`a ${kind} with ${JSON.stringify(state)} says ${value} ${note ?? ""}`, () => {
    const look = lookOf(deviceOf({ kind, capabilities, state }), SPEECH);

    assert.equal(look.value, value);
    assert.equal(look.note || undefined, note);
    assert.deepEqual([look.tap, look.ask], [tap, ask]);
    assert.deepEqual(tapsOf(look), buttons);
  });
}

const BLINDS: Capabilities = { ...OPENS, position: PERCENT };
says("cover", BLINDS, { position: 40 }, { value: "40", tap: { position: 0 } });
says("cover", BLINDS, { position: 40, action: "opening" }, { value: "40", tap: { stop: true } });
says("cover", { position: PERCENT }, { position: null }, { value: "–" });
says(
  "cover",
  OPENS,
  { action: "closing" },
  {
    value: "Closing",
    buttons: {
      "Open fully": { open: true },
      Stop: { stop: true },
      "Close fully": { close: true },
    },
  },
);
says("cover", { close: COMMAND }, {}, { value: "", buttons: { "Close fully": { close: true } } });
says("valve", { on: SWITCH }, { on: true }, { value: "Open", tap: { on: false } });
says(
  "valve",
  { open: COMMAND, on: FACT },
  { on: false },
  { value: "Closed", buttons: { "Open fully": { open: true } } },
);

const HEATING = { temperature: 19.2, targetTemperature: 20.5, mode: "heat" };
says(
  "thermostat",
  CLIMATE,
  { ...HEATING, action: "heating" },
  {
    value: "19.2°",
    note: "heats to 20.5°",
    buttons: { Cooler: { targetTemperature: 20 }, Warmer: { targetTemperature: 21 } },
  },
);
const SEEN: Capabilities = { ...CLIMATE, targetTemperature: { ...DEGREES, readOnly: true } };
for (const [action, note] of [
  ["idle", "holds 20.5°"],
  ["off", "off"],
  ["cooling", "cools to 20.5°"],
  ["drying", "dries"],
  ["fan", "moves air"],
  ["preheating", "preheats to 20.5°"],
  ["defrosting", "defrosts"],
  [null, "set to 20.5°"],
] as const) {
  says("air-conditioner", SEEN, { ...HEATING, action }, { value: "19.2°", note });
}
const RANGE = { targetTemperature: null, targetTemperatureLow: 20, targetTemperatureHigh: 24 };
says(
  "thermostat",
  CLIMATE,
  { ...RANGE, temperature: 26, action: "cooling" },
  {
    value: "26.0°",
    note: "cools to 24.0°",
    buttons: {
      Cooler: { targetTemperatureLow: 19.5, targetTemperatureHigh: 23.5 },
      Warmer: { targetTemperatureLow: 20.5, targetTemperatureHigh: 24.5 },
    },
  },
);
says("thermostat", CLIMATE, { temperature: 18, mode: "off" }, { value: "18.0°", note: "off" });
says(
  "thermostat",
  CLIMATE,
  { temperature: 18, windowOpen: true },
  { value: "18.0°", note: "window open" },
);
const HOT_WATER = { on: true, targetTemperature: 65, action: "idle", mode: "eco" };
says("water-heater", { on: SWITCH, targetTemperature: { ...DEGREES, max: 65 } }, HOT_WATER, {
  value: "Eco",
  note: "holds 65.0°",
  tap: { on: false },
  buttons: { Cooler: { targetTemperature: 64.5 }, Warmer: { targetTemperature: 65 } },
});
const DRY = { on: true, targetHumidity: 45, humidity: 38, action: "humidifying" };
says("humidifier", { on: SWITCH, targetHumidity: PERCENT }, DRY, {
  value: "38%",
  note: "humidifies to 45%",
  tap: { on: false },
  buttons: { Drier: { targetHumidity: 40 }, Moister: { targetHumidity: 50 } },
});
says(
  "dehumidifier",
  { on: SWITCH },
  { on: true, action: "drying" },
  { value: "On", note: "dries", tap: { on: false } },
);

says(
  "lock",
  { locked: SWITCH },
  { locked: false, jammed: true },
  { value: "Jammed", tap: { locked: true } },
);
says("lock", { locked: SWITCH, code: { type: "text" } }, { locked: true }, { value: "Locked" });
says(
  "vacuum",
  ROBOT,
  { action: "cleaning", battery: 64 },
  {
    value: "Cleaning",
    note: "64%",
    buttons: { Pause: { pause: true }, "To the dock": { dock: true } },
  },
);
says(
  "lawn-mower",
  ROBOT,
  { action: "docked" },
  {
    value: "Docked",
    buttons: { Start: { start: true }, "To the dock": { dock: true } },
  },
);
says("vacuum", {}, { action: "error" }, { value: "Error" });
says(
  "alarm",
  ALARM,
  { mode: "disarmed", status: "disarmed" },
  {
    value: "Disarmed",
    buttons: { Home: { mode: "home" }, Away: { mode: "away" }, Night: { mode: "night" } },
  },
);
says(
  "alarm",
  ALARM,
  { mode: "night" },
  { value: "Armed", note: "Night", buttons: { "Disarm (Disarm?)": { mode: "disarmed" } } },
);
says(
  "alarm",
  { ...ALARM, code: { type: "text" } },
  { mode: "away", status: "triggered" },
  { value: "Triggered", note: "Away", buttons: { Code: {} } },
);
says("siren", { on: SWITCH }, { on: false }, { value: "Off", tap: { on: true }, ask: "Sound it?" });
says("siren", { on: SWITCH }, { on: true }, { value: "Sounds", tap: { on: false } });

says("button", { press: COMMAND }, {}, { value: "Press", tap: { press: true } });
says("button", {}, { lastAction: "single" }, { value: "Single" });
says("camera", { on: SWITCH }, { on: true, recording: true }, { value: "Recording" });
says("camera", { on: SWITCH }, { on: false }, { value: "Off" });
says("doorbell", {}, { ringing: true }, { value: "Rings" });
says("doorbell", {}, { ringing: false }, { value: "Quiet" });
says("tracker", {}, { home: true, zone: "home" }, { value: "At home" });
says("tracker", {}, { home: false, zone: "School" }, { value: "School" });
says("tracker", {}, { home: false }, { value: "Away" });
says(
  "weather-station",
  { humidity: PERCENT, temperature: READING },
  { humidity: 84, temperature: 7 },
  { value: "7.0°" },
);
says("weather-station", {}, { condition: "rain" }, { value: "Rain" });
const VERSIONS = { installedVersion: "1.0", latestVersion: "1.1" };
says("update", { install: COMMAND }, VERSIONS, {
  value: "Update",
  note: "1.0 → 1.1",
  buttons: { "Install (Install?)": { install: true } },
});
says(
  "update",
  { install: COMMAND },
  { ...VERSIONS, progress: 34 },
  { value: "34%", note: "1.0 → 1.1" },
);
says(
  "update",
  { install: COMMAND },
  { updateAvailable: false, installedVersion: "1.1" },
  { value: "Up to date", note: "1.1" },
);
says("group", { position: PERCENT }, { position: 100 }, { value: "Open", tap: { position: 0 } });
says(
  "group",
  { on: SWITCH, brightness: PERCENT },
  { on: true, brightness: 30 },
  { value: "30", tap: { on: false } },
);
says("binary-sensor", {}, { waterLeak: true, battery: 5 }, { value: "Detected" });
says("binary-sensor", {}, { batteryLow: true, pluggedIn: false }, { value: "No" });
says("sensor", { value: TEXT }, { value: "Rinsing" }, { value: "Rinsing" });
says("sensor", { battery: PERCENT, value: FACT }, { battery: 4, value: true }, { value: "Yes" });

const ASSUMED: readonly (readonly [DeviceKind, Capabilities, object])[] = [
  ["switch", { on: SWITCH }, { Off: { on: false }, On: { on: true } }],
  ["siren", { on: SWITCH }, { Off: { on: false }, "On (Sound it?)": { on: true } }],
  ["lock", { locked: SWITCH }, { Lock: { locked: true }, "Unlock (Unlock?)": { locked: false } }],
  [
    "cover",
    { position: PERCENT },
    { "Open fully": { position: 100 }, "Close fully": { position: 0 } },
  ],
  ["valve", { on: SWITCH }, { "Open fully": { on: true }, "Close fully": { on: false } }],
];
const TRUE = { on: true, locked: true, position: 100 };
for (const [kind, capabilities, buttons] of ASSUMED) {
  void test(`a ${kind} whose state is assumed offers both directions`, () => {
    const look = lookOf(deviceOf({ kind, capabilities, state: TRUE, assumed: true }), SPEECH);

    assert.deepEqual(tapsOf(look), buttons);
    assert.ok(buttonsOf(look).every(({ disabled }) => disabled !== true));
  });
}

test("a lock that wants a code opens its keypad to lock and to unlock, also when its state is assumed", () => {
  const capabilities: Capabilities = { locked: SWITCH, code: { type: "text" } };
  for (const locked of [true, false, null]) {
    for (const assumed of [true, false]) {
      const look = lookOf(
        deviceOf({
          kind: "lock",
          capabilities,
          state: { locked },
          ...(assumed ? { assumed } : {}),
        }),
        SPEECH,
      );
      assert.deepEqual([look.opens, look.tap, look.buttons], [true, undefined, undefined]);
    }
  }
});

test("a cover at the end of its way goes no further", () => {
  const capabilities = { ...OPENS, position: { ...PERCENT, readOnly: true } };
  const look = lookOf(deviceOf({ kind: "cover", capabilities, state: { position: 100 } }), SPEECH);

  assert.deepEqual(
    buttonsOf(look).map(({ disabled }) => disabled),
    [true, false, false],
  );
});

test("a fan of three speeds has three levels", () => {
  const speed = { ...PERCENT, step: 100 / 3 };
  const state = { on: true, speed: 100 / 3 };
  const look = lookOf(
    deviceOf({ kind: "fan", capabilities: { on: SWITCH, speed }, state }),
    SPEECH,
  );

  assert.equal(look.value, "33");
  assert.deepEqual(look.level, { field: "speed", percent: 100 / 3, step: 100 / 3 });
});

const gangs = (count: number): Device =>
  deviceOf({
    kind: "switch",
    capabilities: {},
    state: {},
    parts: Array.from({ length: count }, (_, index) => ({
      id: `l${index + 1}`,
      kind: "switch" as const,
      name: `Gang ${index + 1}`,
      capabilities: { on: SWITCH },
      state: { on: index === 0 },
      pending: {},
    })),
  });

test("a switch of several gangs has a button for each, with its own pending state", () => {
  const [first, second] = gangs(2).parts ?? [];
  assert.ok(first && second);
  const pending = { ...gangs(2), parts: [first, { ...second, pending: { on: true } }] };

  assert.deepEqual(tapsOf(lookOf(gangs(2), SPEECH)), {
    "Gang 1": { parts: { l1: { on: false } } },
    "Gang 2": { parts: { l2: { on: true } } },
  });
  assert.deepEqual(
    buttonsOf(lookOf(pending, SPEECH)).map(({ pressed }) => pressed),
    [true, true],
  );
});

test("a switch of many gangs switches all of them by a tap", () => {
  const { value, tap, buttons } = lookOf(gangs(5), SPEECH);

  assert.deepEqual([value, buttons], ["1 of 5", undefined]);
  assert.deepEqual(Object.keys((tap?.parts ?? {}) as object), ["l1", "l2", "l3", "l4", "l5"]);
});

function buttonsOf({ buttons = [] }: Look) {
  return buttons.filter((each) => typeof each !== "string");
}

function tapsOf(look: Look): object {
  return Object.fromEntries(
    buttonsOf(look).map(({ name, ask, tap }) => [
      ask === undefined ? name : `${name} (${ask})`,
      tap,
    ]),
  );
}

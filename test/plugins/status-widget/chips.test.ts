import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device, DeviceState } from "@mantel/plugin-sdk/device";
import { createFormats } from "@mantel/plugin-sdk/format";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { translate } from "@mantel/plugin-sdk/translate";
import { chipsOf } from "../../../plugins/status-widget/widget/chips.ts";
import { deviceOf } from "../../helpers/device.ts";

const SPEECH: I18n = {
  t: (text, values) => translate(text, { locale: "en", values }),
  fmt: createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" }),
};
const ALL = {
  dangers: true,
  openings: true,
  locks: true,
  unreachable: true,
  batteries: true,
  batteryBelow: 20,
};
const textsOf = (devices: readonly Device[], wanted: Partial<typeof ALL> = {}): string[] =>
  chipsOf(devices, { ...ALL, ...wanted, i18n: SPEECH }).map(({ text, name = "" }) =>
    text.replace("{name}", name),
  );

test("warnings are named, the open window before the battery", () => {
  const devices = [
    device("sensor", "Meter", { battery: 12 }),
    device("binary-sensor", "Bath window", { contact: false }),
    device("lock", "Front door", { locked: false }),
    away(device("light", "Attic", {})),
  ];

  assert.deepEqual(textsOf(devices), [
    "Bath window open",
    "Front door unlocked",
    "Attic does not answer",
    "Meter: battery 12%",
  ]);
  assert.deepEqual(textsOf(devices, { openings: false, locks: false, batteryBelow: 10 }), [
    "Attic does not answer",
  ]);
});

test("an unreachable bridge shows one message, not one per device", () => {
  const devices = Array.from({ length: 40 }, (_, index) => away(device("light", `${index}`, {})));

  assert.deepEqual(textsOf(devices), ["40 devices do not answer"]);
});

test("a home without problems is reported as such, and an empty home is not", () => {
  assert.deepEqual(textsOf([device("light", "Lamp", { on: true })]), ["All is well"]);
  assert.deepEqual(textsOf([device("lock", "Door", { locked: true })]), ["Locked"]);
  assert.deepEqual(textsOf([]), ["No devices yet"]);
});

test("an unavailable window is not reported as open", () => {
  const window = away(device("binary-sensor", "Window", { contact: false }));

  assert.deepEqual(textsOf([window]), ["Window does not answer"]);
});

test("dangers come first, the alarm before smoke, gas, carbon monoxide and water", () => {
  const devices = [
    device("binary-sensor", "Cellar", { waterLeak: true }),
    device("binary-sensor", "Boiler", { carbonMonoxide: true }),
    device("binary-sensor", "Cooker", { gas: true }),
    away(device("binary-sensor", "Attic", { smoke: true })),
    device("button", "Bathroom cord", { sos: true }),
    device("alarm", "House", { status: "triggered" }),
    device("binary-sensor", "Bath window", { contact: false }),
    device("lock", "Front door", { locked: false, jammed: true }),
  ];

  assert.deepEqual(textsOf(devices), [
    "House: alarm",
    "Bathroom cord: call for help",
    "Attic: smoke",
    "Cooker: gas",
    "Boiler: carbon monoxide",
    "Cellar: water",
    "Front door is jammed",
    "Bath window open",
    "Attic does not answer",
  ]);
  assert.deepEqual(textsOf(devices, { dangers: false, locks: false }), [
    "Bath window open",
    "Attic does not answer",
  ]);
});

test("a part of a device is watched like the device", () => {
  const hob = deviceOf({
    name: "Hob",
    parts: [
      {
        id: "guard",
        kind: "binary-sensor",
        name: "Guard",
        capabilities: {},
        state: { smoke: true },
        pending: {},
      },
    ],
  });

  assert.deepEqual(textsOf([hob]), ["Hob: smoke"]);
});

test("the battery of a lock comes before others, and the emptiest first", () => {
  const devices = [
    device("sensor", "Meter", { battery: 3 }),
    device("sensor", "Remote", { battery: 80, batteryLow: true }),
    device("sensor", "Clock", { batteryLow: true }),
    device("lock", "Front door", { locked: true, battery: 19 }),
  ];

  assert.deepEqual(textsOf(devices), [
    "Front door: battery 19%",
    "Clock: battery low",
    "Meter: battery 3%",
    "Locked",
  ]);
});

test("a jammed lock is never called locked", () => {
  assert.deepEqual(textsOf([device("lock", "Door", { locked: true, jammed: true })]), [
    "Door is jammed",
  ]);
});

function device(kind: Device["kind"], name: string, state: DeviceState): Device {
  return deviceOf({ kind, name, capabilities: {}, state });
}

function away(thing: Device): Device {
  return { ...thing, available: false };
}

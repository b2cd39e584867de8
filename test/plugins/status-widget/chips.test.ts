import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device, DeviceState } from "@mantel/plugin-sdk/device";
import type { I18n } from "@mantel/plugin-sdk/i18n";
import { createFormats } from "../../../host/dashboard/format.ts";
import { translate } from "../../../host/dashboard/translate.ts";
import { chipsOf } from "../../../plugins/status-widget/widget/chips.ts";
import { deviceOf } from "../../helpers/device.ts";

const SPEECH: I18n = {
  t: (text, values) => translate(text, { locale: "en", values }),
  fmt: createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" }),
};
const ALL = { openings: true, locks: true, unreachable: true, batteries: true, batteryBelow: 20 };
const textsOf = (devices: readonly Device[], wanted: Partial<typeof ALL> = {}): string[] =>
  chipsOf(devices, { ...ALL, ...wanted, speech: SPEECH }).map(({ text, name = "" }) =>
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

function device(kind: Device["kind"], name: string, state: DeviceState): Device {
  return deviceOf({ kind, name, capabilities: {}, state });
}

function away(thing: Device): Device {
  return { ...thing, available: false };
}

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device, DeviceState } from "@mantel/plugin-sdk/device";
import type { Speech } from "@mantel/plugin-sdk/speech";
import { createFormats } from "../../../host/dashboard/format.ts";
import { translate } from "../../../host/dashboard/translate.ts";
import { chipsOf } from "../../../plugins/status-widget/widget/chips.ts";

const SPEECH: Speech = {
  t: (text, values) => translate(text, { locale: "en", values }),
  fmt: createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" }),
};
const ALL = { openings: true, locks: true, unreachable: true, batteries: true, batteryBelow: 20 };
const textsOf = (devices: readonly Device[], wanted: Partial<typeof ALL> = {}): string[] =>
  chipsOf(devices, { ...ALL, ...wanted, speech: SPEECH }).map(({ text }) => text);

test("what needs a look is named, the open window before the battery", () => {
  const devices = [
    deviceOf("sensor", "Meter", { battery: 12 }),
    deviceOf("binary-sensor", "Bath window", { contact: false }),
    deviceOf("lock", "Front door", { locked: false }),
    away(deviceOf("light", "Attic", {})),
  ];

  assert.deepEqual(textsOf(devices), [
    "Bath window open",
    "Front door unlocked",
    "Attic does not answer",
    "Meter: battery 12 %",
  ]);
  assert.deepEqual(textsOf(devices, { openings: false, locks: false, batteryBelow: 10 }), [
    "Attic does not answer",
  ]);
});

test("a bridge that is away is one word, not forty", () => {
  const devices = Array.from({ length: 40 }, (_, index) => away(deviceOf("light", `${index}`, {})));

  assert.deepEqual(textsOf(devices), ["40 devices do not answer"]);
});

test("a house without trouble says so, and an empty one does not claim it", () => {
  assert.deepEqual(textsOf([deviceOf("light", "Lamp", { on: true })]), ["All is well"]);
  assert.deepEqual(textsOf([deviceOf("lock", "Door", { locked: true })]), ["Locked"]);
  assert.deepEqual(textsOf([]), ["No devices yet"]);
});

test("a window that does not answer is not called open", () => {
  const window = away(deviceOf("binary-sensor", "Window", { contact: false }));

  assert.deepEqual(textsOf([window]), ["Window does not answer"]);
});

function deviceOf(kind: Device["kind"], name: string, state: DeviceState): Device {
  return {
    ...{ id: `demo:${kind}:1`, bridgeKind: "demo", kind, number: 1, bridge: "demo", name },
    ...{
      room: null,
      groups: [],
      available: true,
      lastSeenAt: null,
      stateChangedAt: null,
      revision: 1,
    },
    info: { manufacturer: null, model: null, serial: null, firmware: null },
    ...{ capabilities: {}, state, pending: {} },
  };
}

function away(device: Device): Device {
  return { ...device, available: false };
}

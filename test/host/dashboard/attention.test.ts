import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device, DeviceState } from "@mantel/plugin-sdk/device";
import { attentionOf } from "../../../host/dashboard/attention.ts";
import { deviceOf } from "../../helpers/device.ts";

test("what is open or unlocked is named", () => {
  const chips = attentionOf([
    device("binary-sensor", "Bath window", { contact: false }),
    device("binary-sensor", "Garage door", { contact: false }),
    device("binary-sensor", "Kitchen window", { contact: true }),
    device("lock", "Front door", { locked: false }),
  ]);

  assert.deepEqual(
    chips.map(({ name, text, hue }) => [name, text, hue]),
    [
      ["Bath window", "{name} open", "warn"],
      ["Garage door", "{name} open", "warn"],
      ["Front door", "{name} unlocked", "warn"],
    ],
  );
});

test("the house is locked when every lock is", () => {
  const locked = device("lock", "Front door", { locked: true });

  assert.deepEqual(attentionOf([locked])[0]?.text, "Locked");
  assert.deepEqual(attentionOf([locked, device("lock", "Back door", { locked: null })]), []);
});

test("a house without locks or contacts needs no word", () => {
  assert.deepEqual(attentionOf([device("light", "Lamp", { on: true })]), []);
});

function device(kind: Device["kind"], name: string, state: DeviceState): Device {
  return deviceOf({ kind, name, capabilities: {}, state });
}

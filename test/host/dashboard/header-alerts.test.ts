import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device, DeviceState } from "@mantel/plugin-sdk/device";
import { headerAlerts } from "../../../host/dashboard/header-alerts.ts";
import { deviceOf } from "../../helpers/device.ts";

test("open and unlocked devices are named", () => {
  const chips = headerAlerts([
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

test("the home is locked when every lock is", () => {
  const locked = device("lock", "Front door", { locked: true });

  assert.deepEqual(headerAlerts([locked])[0]?.text, "Locked");
  assert.deepEqual(headerAlerts([locked, device("lock", "Back door", { locked: null })]), []);
});

test("a home without locks and contacts shows no alert", () => {
  assert.deepEqual(headerAlerts([device("light", "Lamp", { on: true })]), []);
});

function device(kind: Device["kind"], name: string, state: DeviceState): Device {
  return deviceOf({ kind, name, capabilities: {}, state });
}

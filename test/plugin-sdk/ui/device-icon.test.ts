import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceKind, DeviceState } from "@mantel/plugin-sdk/device";
import { iconOf } from "@mantel/plugin-sdk/ui/device-icon";
import { deviceOf } from "../../helpers/device.ts";

function icon(kind: DeviceKind, name: string, state: DeviceState = {}, fields: string[] = []) {
  const number = { type: "number" } as const;
  const capabilities = Object.fromEntries(fields.map((field) => [field, number]));
  return iconOf({ ...deviceOf({ kind, capabilities, state }), name });
}

for (const [name, expected] of [
  ["Backlight", "mdi:led-strip-variant"],
  ["Back light", "mdi:led-strip-variant"],
  ["Shelf LED", "mdi:led-strip-variant"],
  ["Ceiling", "mdi:ceiling-light-outline"],
  ["Kitchen island", "mdi:ceiling-light"],
  ["Table lamp", "mdi:ceiling-light"],
  ["Nightstand", "mdi:lamp-outline"],
  ["Night stand", "mdi:lamp-outline"],
  ["Stairs", "mdi:motion-sensor"],
  ["Reading corner", "mdi:floor-lamp"],
  ["Coffee", "mdi:coffee-maker-outline"],
  ["Dishwasher", "mdi:dishwasher"],
  ["Dish washer", "mdi:dishwasher"],
  ["Washer", "mdi:washing-machine"],
  ["Dryer", "mdi:tumble-dryer"],
  ["Freezer", "mdi:fridge-outline"],
  ["TV", "mdi:television"],
  ["Garage", "mdi:garage-variant"],
  ["Terrace", "mdi:outdoor-lamp"],
] as const) {
  test(`a light, plug or switch called ${name} has the icon ${expected}`, () => {
    for (const kind of ["light", "plug", "switch"] as const) {
      assert.equal(icon(kind, name), expected, kind);
    }
    assert.notEqual(icon("vacuum", name), expected);
  });
}

for (const [kind, expected] of [
  ["light", "mdi:lightbulb-outline"],
  ["switch", "mdi:light-switch"],
  ["plug", "mdi:power-socket-de"],
  ["sensor", "mdi:gauge"],
  ["binary-sensor", "mdi:radar"],
  ["button", "mdi:gesture-tap-button"],
  ["cover", "mdi:roller-shade"],
  ["thermostat", "mdi:radiator"],
  ["fan", "mdi:fan"],
  ["lock", "mdi:lock"],
  ["media-player", "mdi:speaker"],
  ["vacuum", "mdi:robot-vacuum"],
  ["alarm", "mdi:shield-home-outline"],
  ["group", "mdi:lightbulb-group-outline"],
] as const) {
  test(`a ${kind} whose name says nothing has the icon ${expected}`, () => {
    assert.equal(icon(kind, "Nameless"), expected);
  });
}

for (const [field, expected] of [
  ["contact", "mdi:window-closed-variant"],
  ["motion", "mdi:motion-sensor"],
  ["temperature", "mdi:thermometer"],
  ["humidity", "mdi:water-percent"],
  ["illuminance", "mdi:brightness-5"],
  ["power", "mdi:lightning-bolt"],
  ["energy", "mdi:lightning-bolt"],
] as const) {
  test(`a sensor of ${field} has the icon ${expected}, and another device does not`, () => {
    assert.equal(icon("sensor", "Ceiling", {}, [field]), expected);
    assert.equal(icon("binary-sensor", "Ceiling", {}, [field]), expected);
    assert.equal(icon("thermostat", "Ceiling", {}, [field]), "mdi:radiator");
  });
}

test("an open lock and an open contact have icons of their own", () => {
  assert.equal(icon("lock", "Door", { locked: false }), "mdi:lock-open-variant");
  assert.equal(icon("lock", "Door", { locked: true }), "mdi:lock");
  assert.equal(icon("cover", "Door", { locked: false }), "mdi:roller-shade");
  const contact = (closed: boolean) =>
    icon("binary-sensor", "Door", { contact: closed }, ["contact"]);
  assert.equal(contact(false), "mdi:window-open-variant");
  assert.equal(contact(true), "mdi:window-closed-variant");
});

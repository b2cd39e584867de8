import assert from "node:assert/strict";
import { test } from "node:test";
import { idOf } from "../../fakes/hue-home.ts";
import { DESK, SHELF, startHue } from "./start-hue.ts";

test("lights, plugs, buttons, sensors, rooms, zones and scenes of the bridge are shown", async (t) => {
  const { plugin, bridge } = await startHue(t);

  const shown = [...plugin.devices.values()].map(({ kind, name, room, groups, state }) => {
    return { kind, name, room, groups, state };
  });

  const lamp = {
    state: {
      on: false,
      brightness: 47,
      colorTemperature: 2732,
      color: null,
      effect: "no_effect",
    },
  };
  const group = { on: false, brightness: 0, colorTemperature: 2732, color: null };
  assert.deepEqual(shown, [
    { kind: "light", name: "Desk", room: "Study", groups: ["Reading"], ...lamp },
    { kind: "light", name: "Shelf", room: "Study", groups: [], ...lamp },
    { kind: "plug", name: "Kettle", room: undefined, groups: [], state: { on: false } },
    {
      kind: "button",
      name: "Dial",
      room: undefined,
      groups: [],
      state: { lastAction: null, battery: 83 },
    },
    {
      kind: "sensor",
      name: "Hall",
      room: undefined,
      groups: [],
      state: { motion: false, temperature: 18.14, illuminance: 63.47, battery: 83 },
    },
    {
      kind: "binary-sensor",
      name: "Front door",
      room: undefined,
      groups: [],
      state: { contact: true, tamper: false, battery: 83 },
    },
    { kind: "group", name: "Study", room: "Study", groups: undefined, state: group },
    { kind: "group", name: "Reading", room: undefined, groups: undefined, state: group },
  ]);
  assert.deepEqual(plugin.devices.get(DESK)?.capabilities, {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, step: 1, unit: "%" },
    colorTemperature: { type: "number", min: 2000, max: 6536, step: 1, unit: "K" },
    color: { type: "color" },
    effect: { type: "choice", values: ["no_effect", "candle"] },
  });
  assert.deepEqual(plugin.scenes, [
    {
      nativeId: `${bridge.id}/${idOf("scene-1")}`,
      name: "Bright",
      room: "Study",
      targets: {
        [DESK]: { on: true, brightness: 100, colorTemperature: 4292 },
        [SHELF]: { on: true, brightness: 50 },
      },
      gateway: bridge.id,
    },
    {
      ...{
        nativeId: `${bridge.id}/${idOf("scene-2")}`,
        name: "Natural light",
        room: "Study",
        targets: {},
      },
      gateway: bridge.id,
    },
  ]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  directionOf,
  partsOf,
  type Sensors,
} from "../../../plugins/energy-flow-widget/widget/flow.ts";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: energy } = await import("../../../plugins/energy-flow-widget/widget.ts");

const [SOLAR, GRID, BATTERY, METER] = (["Solar", "Grid", "Battery", "Meter"] as const).map(
  (name, index) => sensor(name, [3200, -900, -1500, 800][index] ?? 0, index + 1),
);
const NONE: Sensors = {
  meter: undefined,
  solar: undefined,
  grid: undefined,
  battery: undefined,
  isChargingPositive: false,
};
const CONFIG = { solar: SOLAR?.id, grid: GRID?.id, battery: BATTERY?.id };

test("the power of the house is that of its meter, or what its sources give", () => {
  const sources = { ...NONE, solar: SOLAR, grid: GRID, battery: BATTERY };
  const house = (sensors: Sensors) => partsOf(sensors).find(({ name }) => name === "house")?.watts;

  assert.equal(house({ ...sources, meter: undefined }), 800);
  assert.equal(house({ ...sources, meter: METER }), 800);
  assert.equal(house({ ...sources, meter: undefined, solar: undefined }), 0, "never negative");
  const away = SOLAR && { ...SOLAR, available: false };
  assert.equal(house({ ...sources, meter: undefined, solar: away }), undefined);
});

test("a battery may count charging as positive, and a few watts are not shown as a flow", () => {
  const directions = (sensors: Partial<Sensors>) =>
    partsOf({ ...NONE, ...sensors }).map((part) => [part.name, directionOf(part)]);
  const charging = { battery: sensor("Battery", 1500, 1) };

  assert.deepEqual(directions({ ...charging, isChargingPositive: true })[0], ["battery", "out"]);
  assert.deepEqual(directions(charging)[0], ["battery", "in"]);
  assert.deepEqual(directions({ solar: sensor("Solar", 9, 1) })[0], ["solar", "none"]);
});

test("a large tile shows the flow as a picture, and a part opens its sensor", (t) => {
  const devices = [SOLAR, GRID, BATTERY].flatMap((each) => each ?? []);
  const { root, size, textOf } = mountOnPage(t, energy, { devices, config: CONFIG });
  const parts = textOf(".part").map((text) => text.replaceAll("\u00a0", " "));
  const lines = Array.from(root.querySelectorAll("polyline"), ({ classList }) => [...classList]);
  size.value = { ...size.value, height: 200 };
  const low = [textOf(".note")[0], root.querySelector(".flow")];

  assert.deepEqual(parts, [
    "3.2 kW Solar",
    "900 W to the grid",
    "1.5 kW Battery charges 64%",
    "800 W House",
  ]);
  assert.deepEqual(lines, [
    ["solar", "in"],
    ["grid", "out"],
    ["battery", "out"],
    ["house", "out"],
  ]);
  assert.equal(
    root.querySelector(".solar button")?.textContent,
    undefined,
    "it is gone with the picture",
  );
  assert.deepEqual(low, ["Solar 3.2 kW · to the grid 900 W · Battery charges 1.5 kW", null]);
  size.value = { ...size.value, height: 300 };
  const opener = root.querySelector(".part.solar [data-opens]");
  assert.equal(opener?.closest("[data-details]")?.getAttribute("data-details"), SOLAR?.id);
});

test("with a price the tile shows the cost of today", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 3) });
  const grid = sensor("Grid", 800, 4, { energy: { type: "number", unit: "kWh", readOnly: true } });
  const readings = [4800, 4801, 4803].map((value, hour) => ({
    at: new Date(Date.UTC(2026, 10, 20, hour)).toISOString(),
    value,
  }));
  const { config, textOf, waitFor } = mountOnPage(t, energy, {
    devices: [grid],
    config: { grid: grid.id },
    answers: { [`/smart-home/devices/${encodeURIComponent(grid.id)}/history?`]: { readings } },
  });
  await waitFor(".note");
  const notes = [textOf(".note")];
  for (const currency of ["EUR", "shells"]) {
    config.value = { grid: grid.id, price: 0.5, currency };
    notes.push(textOf(".note"));
  }

  assert.deepEqual(notes.flat(), [
    "3 kWh today",
    "3 kWh today · €1.50",
    "3 kWh today · 1.50 shells",
  ]);
});

test("a tile without sensors says what to do, and a meter alone is not a flow", (t) => {
  const meter = sensor("Meter", 800, 4);
  const { config, textOf } = mountOnPage(t, energy, { devices: [meter] });
  const none = textOf(".empty strong");

  config.value = { meter: meter.id, solar: "demo:sensor:9" };

  assert.deepEqual([none, textOf(".empty strong")], [["No sensors yet"], ["No sensors yet"]]);
});

test("a sensor that does not answer leaves the power of the house unknown", (t) => {
  const solar = { ...sensor("Solar", 800, 4), available: false };
  const { textOf } = mountOnPage(t, energy, { devices: [solar], config: { solar: solar.id } });

  assert.deepEqual(textOf(".sum b, .part b"), ["–", "–", "–"]);
});

function sensor(name: string, power: number, number: number, more: object = {}) {
  return deviceOf({
    kind: "sensor",
    name,
    number,
    id: `demo:sensor:${number}`,
    capabilities: { power: { type: "number", unit: "W", step: 10, readOnly: true }, ...more },
    state: { power, ...(name === "Battery" ? { battery: 64 } : {}) },
  });
}

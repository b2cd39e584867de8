import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: device } = await import("../../../plugins/device-widget/widget.ts");

const LAMP = deviceOf({
  name: "Shelf",
  capabilities: {
    on: { type: "boolean" },
    brightness: { type: "number", min: 0, max: 100, unit: "%" },
    effect: { type: "choice", values: ["none", "candle"] },
  },
  state: { on: true, brightness: 60, effect: "none" },
});
const SENSOR = deviceOf({
  kind: "sensor",
  name: "Bath climate",
  capabilities: {
    temperature: { type: "number", unit: "°C", step: 0.1, readOnly: true },
    humidity: { type: "number", unit: "%", step: 1, readOnly: true },
  },
  state: { temperature: 21.44, humidity: 46 },
});

test("a device shows its tile, and its controls if the tile is tall enough", (t) => {
  const { size, textOf } = mountOnPage(t, device, {
    config: { device: LAMP.id },
    devices: [LAMP],
    size: { height: 209 },
  });
  const low = textOf(".name, .value, .what");

  size.value = { ...size.value, height: 210 };

  assert.deepEqual(low, ["Shelf", "60\u202f%".replace("\u202f", " ")]);
  assert.deepEqual(textOf(".what, .choices button"), ["Effect", "None", "Candle"]);
});

test("a sensor shows the value of the settings, and its day as a line", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 12) });
  const readings = [
    { at: "2026-11-20T06:00:00Z", value: 40 },
    { at: "2026-11-20T09:00:00Z", value: 50 },
  ];
  const { api, root, textOf, waitFor } = mountOnPage(t, device, {
    config: { device: SENSOR.id, field: "humidity" },
    devices: [SENSOR],
    answers: { "/smart-home/devices/demo%3Asensor%3A1/history?": { readings } },
  });
  await waitFor(".spark");

  assert.deepEqual(textOf(".title, b"), ["Bath climate", "46%"]);
  assert.match(api.asked[0] ?? "", /field=humidity$/);
  assert.ok((root.querySelector(".line")?.getAttribute("d") ?? "").split("L").length > 10);
});

test("a tile without a device says what to do", (t) => {
  const { config, textOf } = mountOnPage(t, device);
  const none = textOf(".empty");

  config.value = { device: "demo:light:9" };

  assert.deepEqual(none, ["Choose a device in the settings of this tile."]);
  assert.deepEqual(textOf(".empty"), ["Device demo:light:9 not found."]);
});

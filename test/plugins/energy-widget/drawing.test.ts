import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: energy } = await import("../../../plugins/energy-widget/widget.ts");

const METER = deviceOf({
  kind: "sensor",
  name: "Meter",
  capabilities: {
    power: { type: "number", unit: "W", step: 10, readOnly: true },
    energy: { type: "number", unit: "kWh", step: 0.01, readOnly: true },
  },
  state: { power: 1234, energy: 4812 },
});
const readings = [
  { at: "2026-11-20T00:00:00Z", value: 4800 },
  { at: "2026-11-20T01:00:00Z", value: 4801 },
  { at: "2026-11-20T02:00:00Z", value: 4803 },
];
const answers = { "/smart-home/devices/demo%3Asensor%3A1/history?": { readings } };

test("energy shows the power now, the sum of today and a bar for each hour", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 3) });
  const { size, root, textOf, waitFor } = mountOnPage(t, energy, { devices: [METER], answers });
  await waitFor(".note");

  assert.deepEqual(textOf("b, .note"), ["1.2kW", "3 kWh today"]);
  const heights = Array.from(root.querySelectorAll(".bars i"), (bar) => bar.getAttribute("style"));
  assert.deepEqual(
    [heights.length, ...heights.slice(1, 4)],
    [24, "height: 50%;", "height: 100%;", "height: 0%;"],
  );
  size.value = { ...size.value, height: 109 };
  assert.equal(root.querySelector(".bars"), null);
});

test("a tap on the card opens the details of its meter", (t) => {
  const { root } = mountOnPage(t, energy, { devices: [METER] });
  const opener = root.querySelector("[data-opens]");

  assert.equal(opener?.textContent, "Energy");
  assert.equal(opener.closest("[data-details]")?.getAttribute("data-details"), METER.id);
});

test("a meter that does not answer says so, and a home without one says what to do", (t) => {
  const { store, config, textOf } = mountOnPage(t, energy, {
    devices: [{ ...METER, available: false }],
  });
  const away = textOf(".word");

  config.value = { meter: "demo:sensor:9" };
  const unknown = textOf(".empty strong");
  config.value = {};
  store.removeDevice(METER.id);

  assert.deepEqual([away, unknown], [["No answer"], ["No meter yet"]]);
  assert.deepEqual(textOf(".empty strong"), ["No meter yet"]);
});

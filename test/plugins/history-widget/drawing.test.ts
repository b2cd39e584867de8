import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceOf } from "../../helpers/device.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: history } = await import("../../../plugins/history-widget/widget.ts");

const ATTIC = climate(1, "Attic");
const BATH = climate(2, "Bath");
const PATHS = [1, 2].map((number) => `/smart-home/devices/demo%3Asensor%3A${number}/history?`);
const [ATTIC_PATH = "", BATH_PATH = ""] = PATHS;
const answers = { [ATTIC_PATH]: dayAt(17), [BATH_PATH]: dayAt(21) };

test("history names each device that measures the field, with its last value", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 12) });
  const { api, config, root, textOf, waitFor } = mountOnPage(t, history, {
    devices: [ATTIC, BATH],
    answers,
  });
  const lines = await waitFor("li");
  const shown = textOf(".title");

  config.value = { devices: [BATH.id], title: "Warm rooms" };
  await waitFor("li:only-child");

  assert.deepEqual([shown, lines], [["Temperature"], ["Attic 18.0°", "Bath 22.0°"]]);
  assert.deepEqual(textOf(".title, li"), ["Warm rooms", "Bath 22.0°"]);
  assert.equal(root.querySelector<HTMLElement>(".plot")?.hidden, false);
  assert.match(api.asked[0] ?? "", /field=temperature$/);
});

test("history says why it has no lines", async (t) => {
  t.mock.method(console, "warn", () => undefined);
  const { api, config, textOf, until } = mountOnPage(t, history, {
    config: { field: "pressure" },
    devices: [ATTIC],
    answers: { [ATTIC_PATH]: { readings: [] } },
  });
  const unmeasured = textOf(".empty");

  config.value = {};
  const loading = textOf(".empty");
  await until(() => textOf(".empty")[0] !== loading[0]);
  const none = textOf(".empty");
  delete api.answers[ATTIC_PATH];
  config.value = { devices: [ATTIC.id], field: "humidity" };
  await until(() => textOf(".empty").includes("Could not load the measurements."));

  assert.deepEqual(unmeasured, ["No device measures pressure."]);
  assert.deepEqual(loading, ["Loading measurements …"]);
  assert.deepEqual(none, ["No measurements yet."]);
});

function climate(number: number, name: string) {
  return deviceOf({
    kind: "sensor",
    number,
    name,
    capabilities: {
      temperature: { type: "number", unit: "°C", step: 0.1, readOnly: true },
      humidity: { type: "number", unit: "%", step: 1, readOnly: true },
    },
    state: {},
  });
}

function dayAt(celsius: number) {
  const at = (hour: string) => `2026-11-20T${hour}:00:00Z`;
  return {
    readings: [
      { at: at("06"), value: celsius },
      { at: at("10"), value: celsius + 1 },
    ],
  };
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { createFormats } from "@mantel/plugin-sdk/format";
import { readingText, shownReading } from "@mantel/plugin-sdk/ui/reading";

const i18n = {
  fmt: createFormats({ locale: "en-GB", timeZone: "UTC", units: "metric" }),
};

for (const [value, capability, shown, text] of [
  [21.46, { unit: "°C", step: 0.1 }, { value: "21.5°" }, "21.5°"],
  [1_250, { unit: "W" }, { value: "1.3", unit: "kW" }, "1.3 kW"],
  [1.25, { unit: "kWh" }, { value: "1.3", unit: "kWh" }, "1.3 kWh"],
  [62.4, { unit: "%" }, { value: "62", unit: "%" }, "62%"],
  [62.44, { unit: "%", step: 0.1 }, { value: "62.4", unit: "%" }, "62.4%"],
  [800.5, { unit: "lx", step: 1 }, { value: "801", unit: "lx" }, "801 lx"],
  [800.54, { unit: "lx", step: 0.5 }, { value: "800.5", unit: "lx" }, "800.5 lx"],
  [3, {}, { value: "3" }, "3"],
] as const) {
  test(`${value} with ${JSON.stringify(capability)} is shown as ${text}`, () => {
    assert.deepEqual(shownReading(value, capability, i18n), shown);
    assert.equal(readingText(value, capability, i18n), text);
  });
}

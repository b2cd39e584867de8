import assert from "node:assert/strict";
import { test } from "node:test";
import { createFormats } from "@mantel/plugin-sdk/format";

test("percentages are formatted in the language of the home", () => {
  const shares = ["en-GB", "de-DE", "tr-TR"].map((locale) =>
    createFormats({ locale, timeZone: "UTC", units: "metric" }).unit(57.4, "percent"),
  );

  assert.deepEqual(shares, ["57%", "57\u00a0%", "%57"]);
});

test("a date without a time is the same day in every time zone", () => {
  const zones = ["Pacific/Kiritimati", "Pacific/Auckland", "UTC", "Pacific/Pago_Pago"];
  const days = zones.map((timeZone) =>
    createFormats({ locale: "en-GB", timeZone, units: "metric" }).date("2026-11-20"),
  );

  assert.deepEqual([...new Set(days)], ["Friday 20 November"]);
});

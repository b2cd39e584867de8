import assert from "node:assert/strict";
import { test } from "node:test";
import { createFormats } from "@mantel/plugin-sdk/format";

test("percentages are formatted in the language of the home", () => {
  const shares = ["en-GB", "de-DE", "tr-TR"].map((locale) =>
    createFormats({ locale, timeZone: "UTC", units: "metric" }).unit(57.4, "percent"),
  );

  assert.deepEqual(shares, ["57%", "57\u00a0%", "%57"]);
});

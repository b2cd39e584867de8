import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as always, constantFrom, double, integer, property } from "fast-check";
import { reciprocal, toLevel, toPercent } from "../../../plugins/zigbee2mqtt/convert-values.ts";

const max = constantFrom(100, 200, 254, 255, 1_000);

test("a level goes to percent and back as often as one likes and stays the same", () => {
  always(
    property(max, integer({ min: 0, max: 1_000 }), (most, any) => {
      let level = any % (most + 1);
      const first = level;

      for (let i = 0; i < 10; i++) level = toLevel(toPercent(level, most), most);

      assert.equal(level, first);
    }),
  );
});

test("a whole percent is read back as that whole percent", () => {
  for (let percent = 0; percent <= 100; percent++) {
    assert.equal(toPercent(toLevel(percent, 254), 254), percent);
  }
});

test("a percent above 0 is never the level 0, and 100 is the highest", () => {
  always(
    property(max, double({ min: 1e-9, max: 100, noNaN: true }), (most, percent) => {
      assert.ok(toLevel(percent, most) >= 1);
    }),
  );
  assert.equal(toLevel(100, 254), 254);
});

test("each mired from 50 to 1,000 goes to kelvin and back", () => {
  for (let mired = 50; mired <= 1_000; mired++) {
    assert.equal(reciprocal(reciprocal(mired)), mired);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as always, constantFrom, double, integer, property } from "fast-check";
import {
  reciprocal,
  toChromaticity,
  toHueSaturation,
  toLevel,
  toPercent,
} from "../../../plugins/zigbee2mqtt/convert-values.ts";

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

test("hue and saturation go to chromaticity and back within what four digits hold", () => {
  always(
    property(
      double({ min: 0, max: 359.9, noNaN: true }),
      double({ min: 10, max: 100, noNaN: true }),
      (hue, saturation) => {
        const back = toHueSaturation(toChromaticity({ hue, saturation }));
        const apart = Math.abs(back.hue - hue);

        assert.ok(Math.min(apart, 360 - apart) < 1.5, `${hue} ${saturation} ${back.hue}`);
        assert.ok(
          Math.abs(back.saturation - saturation) < 1.5,
          `${hue} ${saturation} ${back.saturation}`,
        );
      },
    ),
  );
});

test("the primaries of sRGB are where IEC 61966-2-1 has them", () => {
  assert.deepEqual(toChromaticity({ hue: 0, saturation: 100 }), { x: 0.64, y: 0.33 });
  assert.deepEqual(toChromaticity({ hue: 120, saturation: 100 }), { x: 0.3, y: 0.6 });
  assert.deepEqual(toChromaticity({ hue: 240, saturation: 100 }), { x: 0.15, y: 0.06 });
});

test("any chromaticity, possible or not, is a colour within its ranges", () => {
  const any = double({ min: -2, max: 2, noNaN: true });
  always(
    property(any, any, (x, y) => {
      const { hue, saturation } = toHueSaturation({ x, y });

      assert.ok(hue >= 0 && hue <= 360 && saturation >= 0 && saturation <= 100);
    }),
  );
});

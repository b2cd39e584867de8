import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as always, double, property } from "fast-check";
import { toChromaticity, toHueSaturation } from "../../plugin-sdk/color.ts";

test("hue and saturation survive the conversion to chromaticity and back, within four decimals", () => {
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

test("every chromaticity, even an impossible one, becomes a valid colour", () => {
  const any = double({ min: -2, max: 2, noNaN: true });
  always(
    property(any, any, (x, y) => {
      const { hue, saturation } = toHueSaturation({ x, y });

      assert.ok(hue >= 0 && hue <= 360 && saturation >= 0 && saturation <= 100);
    }),
  );
});

test("the sRGB primaries and white have the standard's chromaticities", () => {
  assert.deepEqual(toChromaticity({ hue: 0, saturation: 100 }), { x: 0.64, y: 0.33 });
  assert.deepEqual(toChromaticity({ hue: 120, saturation: 100 }), { x: 0.3, y: 0.6 });
  assert.deepEqual(toChromaticity({ hue: 240, saturation: 100 }), { x: 0.15, y: 0.06 });
  assert.deepEqual(toChromaticity({ hue: 77, saturation: 0 }), { x: 0.3127, y: 0.329 });
});

test("a colour outside the gamut becomes the nearest one inside", () => {
  const [red, green, blue] = [
    { x: 0.6, y: 0.5 },
    { x: 0.2, y: 0.5 },
    { x: 0.2, y: 0.1 },
  ] as const;
  const gamut = { red, green, blue };

  assert.deepEqual(toChromaticity({ hue: 120, saturation: 100 }, gamut), { x: 0.3, y: 0.5 });
  assert.deepEqual(toChromaticity({ hue: 240, saturation: 100 }, gamut), blue);
  assert.deepEqual(toChromaticity({ hue: 0, saturation: 0 }, gamut), { x: 0.3127, y: 0.329 });
});

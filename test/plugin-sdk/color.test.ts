import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as always, double, property } from "fast-check";
import { distance, toChromaticity, toHueSaturation } from "../../plugin-sdk/color.ts";

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

for (const [hue, saturation, x, y] of [
  [60, 100, 0.4193, 0.5053],
  [180, 100, 0.2246, 0.3287],
  [300, 100, 0.3209, 0.1542],
  [30, 50, 0.4184, 0.3947],
  [210, 25, 0.2727, 0.294],
] as const) {
  test(`the colour of hue ${hue} and saturation ${saturation} is at ${x}, ${y}, and back`, () => {
    assert.deepEqual(toChromaticity({ hue, saturation }), { x, y });
    const back = toHueSaturation({ x, y });
    assert.ok(Math.abs(back.hue - hue) <= 1 && Math.abs(back.saturation - saturation) <= 1);
  });
}

for (const [x, y] of [
  [-0.1, 0.3],
  [0.3, 0],
  [0.7, 0.4],
  [NaN, 0.3],
] as const) {
  test(`the point ${x}, ${y} is white`, () => {
    assert.deepEqual(toHueSaturation({ x, y }), { hue: 0, saturation: 0 });
  });
}

test("points at the edge of the diagram have a colour", () => {
  for (const [x, y] of [
    [0, 0.5],
    [0.3, 0.001],
    [0.5, 0.5],
  ] as const) {
    assert.ok(toHueSaturation({ x, y }).saturation > 0, `${x} ${y}`);
  }
});

test("a point inside a gamut stays, in whichever direction its corners are named", () => {
  const [red, green, blue] = [
    { x: 0.7, y: 0.3 },
    { x: 0.2, y: 0.7 },
    { x: 0.1, y: 0.1 },
  ] as const;
  const color = { hue: 30, saturation: 50 };

  for (const gamut of [
    { red, green, blue },
    { red: blue, green, blue: red },
  ]) {
    assert.deepEqual(toChromaticity(color, gamut), toChromaticity(color));
  }
});

test("the distance of two points is that of a ruler", () => {
  assert.equal(distance({ x: 0.1, y: 0.2 }, { x: 0.4, y: 0.6 }), 0.5);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as always, double, integer, property } from "fast-check";
import {
  conversionTo,
  toCanonicalUnit,
  toKelvin,
  toLevel,
  toMired,
  toPercent,
} from "../../plugin-sdk/units.ts";

test("a level stays the same over repeated conversions to percent and back", () => {
  for (const max of [1, 3, 50, 99, 100, 200, 254, 255, 999, 1_000, 1_023, 4_095, 65_535]) {
    for (let level = 0; level <= max; level++) {
      const percent = toPercent(level, max);
      assert.equal(toLevel(percent, max), level, `${level} of ${max}`);
      assert.equal(toPercent(toLevel(percent, max), max), percent, `${level} of ${max}`);
    }
  }
});

test("levels do not drift on any scale", () => {
  always(
    property(integer({ min: 1, max: 1_000_000 }), integer({ min: 0 }), (max, any) => {
      const level = any % (max + 1);
      assert.equal(toLevel(toPercent(level, max), max), level);
    }),
  );
});

test("a whole percent survives the conversion to a level and back", () => {
  for (const max of [100, 254, 255, 1_000, 65_535]) {
    for (let percent = 0; percent <= 100; percent++) {
      assert.equal(toPercent(toLevel(percent, max), max), percent);
    }
  }
});

test("a percent has only as many decimals as needed to distinguish levels", () => {
  assert.deepEqual(
    [toPercent(1, 255), toPercent(127, 254), toPercent(1, 65_535)],
    [0.4, 50, 0.002],
  );
});

test("a percent above 0 is never the level 0, and 100 is the highest", () => {
  always(
    property(
      integer({ min: 1, max: 65_535 }),
      double({ min: 1e-9, max: 100, noNaN: true }),
      (max, percent) => {
        const level = toLevel(percent, max);
        assert.ok(level >= 1 && level <= max);
      },
    ),
  );
  assert.deepEqual([toLevel(0, 254), toLevel(100, 254)], [0, 254]);
});

test("a level outside the range becomes a percent outside the range", () => {
  assert.ok(toPercent(-5, 254) < 0 && toPercent(300, 254) > 100);
});

test("every colour temperature from 50 to 1,000 mired survives the conversion to kelvin and back", () => {
  for (let mired = 50; mired <= 1_000; mired++) assert.equal(toMired(toKelvin(mired)), mired);
});

test("no colour temperature causes a division by zero", () => {
  assert.deepEqual([toKelvin(0), toMired(0), toKelvin(-1)], [1e6, 1e6, 1e6]);
});

const CONVERTED: readonly [
  theirs: string,
  value: number,
  unit: string | undefined,
  ours: number,
][] = [
  ["%", 12, "%", 12],
  ["℃", 21.5, "°C", 21.5],
  ["°F", 70, "°C", 21.11],
  ["lux", 300, "lx", 300],
  ["kW", 1.2, "W", 1_200],
  ["Wh", 500, "kWh", 0.5],
  ["mbar", 1_013, "hPa", 1_013],
  ["psi", 1, "hPa", 68.947573],
  ["μg/m³", 8, "µg/m³", 8],
  ["ug/m3", 8, "µg/m³", 8],
  ["h", 2, "min", 120],
  ["mi/h", 10, "km/h", 16.09344],
  ["meters", 2, "m", 2],
  ["m/s", 10, "km/h", 36],
  ["g", 250, "kg", 0.25],
  ["l/min", 10, "m³/h", 0.6],
  ["in", 2, "mm", 50.8],
  ["Seconds", 3, "s", 3],
  ["bananas", 3, undefined, 3],
  ["", 3, undefined, 3],
  ["constructor", 3, undefined, 3],
];
for (const [theirs, value, unit, ours] of CONVERTED) {
  test(`${value} ${theirs} is ${ours} ${unit ?? "without unit"}, and the same on the way back`, () => {
    const conversion = toCanonicalUnit(theirs);

    assert.equal(conversion.unit, unit);
    assert.equal(conversion.toOurs(value), ours);
    assert.ok(Math.abs(conversion.toTheirs(ours) - value) < 0.01);
  });
}

test("values are converted between canonical units of one quantity, and not to another quantity", () => {
  for (const [value, theirs, wanted, expected] of [
    [1_500, "L", "m³", 1.5],
    [2, "m³", "L", 2_000],
    [3, "mi", "m", 4_828.032],
    [0.4, "ppm", "ppb", 400],
    [1.1, "ppb", "ppm", 0.0011],
    [293.15, "K", "°C", 20],
    [90, "s", "min", 1.5],
    [68, "°F", "°C", 20],
  ] as const) {
    assert.equal(conversionTo(wanted, theirs)?.(value), expected, `${value} ${theirs}`);
  }
  assert.equal(conversionTo("ppb", "µg/m³"), undefined);
  assert.equal(conversionTo("m", "no unit"), undefined);
});

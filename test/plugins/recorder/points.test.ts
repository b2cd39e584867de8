import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assert as holds,
  oneof,
  double,
  integer,
  constant,
  property,
  array,
  tuple,
} from "fast-check";
import {
  PackedCurve,
  packPoints,
  unpackCurve,
  unpackPoints,
} from "../../../plugins/recorder/points.ts";

const BASE = 1_800_000_000_000;
const values = oneof(
  double(),
  integer(),
  integer({ min: -400, max: 1_200 }).map((tenths) => tenths / 10),
  constant(NaN),
  constant(-0),
);
const instants = integer({ min: BASE - 10_000_000, max: BASE + 3_600_000 });

test("a packed curve has exactly the values that were added, in the order of time", () => {
  holds(
    property(array(tuple(instants, values)), (reports) => {
      const packed = new PackedCurve(BASE);
      for (const [at, value] of reports) packed.add(at, value);

      const { at, value } = packed.curve();

      const expected = reports.toSorted(([a], [b]) => a - b);
      assert.deepEqual(
        at.map((each, index) => [each, value[index]]),
        expected,
      );
      assert.equal(packed.count, reports.length);
    }),
  );
});

test("packed points of several fields come back as they were", () => {
  const row = tuple(integer({ min: 1, max: 1_000_000 }), instants, values);
  holds(
    property(array(row), (rows) => {
      const points = {
        series: rows.map(([series]) => series),
        at: rows.map(([, at]) => at),
        value: rows.map(([, , value]) => value),
      };

      assert.deepEqual(unpackPoints(BASE, packPoints(BASE, points)), points);
    }),
  );
});

test("a report of a usual sensor takes at most five bytes", () => {
  const packed = new PackedCurve(BASE);
  for (let index = 0; index < 720; index++)
    packed.add(BASE + index * 5_003, 21.5 + Math.round(Math.sin(index) * 20) / 10);

  assert.ok(packed.byteLength <= 720 * 5, `${packed.byteLength} bytes`);
});

test("bytes that end in the middle of a report are refused", () => {
  const packed = PackedCurve.of(BASE, { at: [BASE + 1_000], value: [21.5] });

  assert.throws(() => unpackCurve(BASE, packed.bytes().slice(0, -1)), RangeError);
});

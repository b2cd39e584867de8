import assert from "node:assert/strict";
import { test } from "node:test";
import { boundsOf } from "../../../plugins/recorder/periods.ts";

const BERLIN = { timeZone: "Europe/Berlin", most: 100 };
const span = (from: string, to: string) => ({ from: Date.parse(from), to: Date.parse(to) });
const texts = (bounds: number[]) => bounds.map((at) => new Date(at).toISOString().slice(0, 16));

test("days begin at local midnight, also when clocks change", () => {
  const bounds = boundsOf("day", span("2026-10-24T12:00Z", "2026-10-26T12:00Z"), BERLIN);

  assert.deepEqual(texts(bounds), [
    "2026-10-23T22:00",
    "2026-10-24T22:00",
    "2026-10-25T23:00",
    "2026-10-26T23:00",
  ]);
});

test("a day whose midnight is left out begins an hour later", () => {
  const zone = { timeZone: "America/Santiago", most: 10 };
  const bounds = boundsOf("day", span("2026-09-06T12:00Z", "2026-09-06T13:00Z"), zone);

  assert.deepEqual(texts(bounds), ["2026-09-06T04:00", "2026-09-07T03:00"]);
});

test("weeks begin on Monday, and months on the first day", () => {
  const days = span("2026-12-31T12:00Z", "2027-01-01T12:00Z");

  assert.deepEqual(texts(boundsOf("week", days, BERLIN)), ["2026-12-27T23:00", "2027-01-03T23:00"]);
  assert.deepEqual(texts(boundsOf("month", days, BERLIN)), [
    "2026-11-30T23:00",
    "2026-12-31T23:00",
    "2027-01-31T23:00",
  ]);
});

test("hours begin with the local hour", () => {
  const zone = { timeZone: "Asia/Kathmandu", most: 10 };
  const bounds = boundsOf("hour", span("2026-11-01T00:00Z", "2026-11-01T00:30Z"), zone);

  assert.deepEqual(texts(bounds), ["2026-10-31T23:15", "2026-11-01T00:15", "2026-11-01T01:15"]);
});

test("there are at most so many periods", () => {
  assert.equal(
    boundsOf("hour", span("2026-01-01T00:00Z", "2027-01-01T00:00Z"), BERLIN).length,
    101,
  );
});

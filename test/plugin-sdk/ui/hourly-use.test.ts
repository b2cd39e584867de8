import assert from "node:assert/strict";
import { test } from "node:test";
import { hourOf, hoursOfToday, sumOf } from "../../../plugin-sdk/ui/hourly-use.ts";

const BERLIN = { timeZone: "Europe/Berlin" };
const at = (text: string): number => Date.parse(`${text}+01:00`);
const now = at("2026-11-20T03:30");

test("a counter's steps belong to the hour in which they end, in the home's time zone", () => {
  const hours = hoursOfToday(
    [
      { at: at("2026-11-19T23:50"), value: 10 },
      { at: at("2026-11-20T00:10"), value: 10.5 },
      { at: at("2026-11-20T00:50"), value: 11 },
      { at: at("2026-11-20T02:10"), value: 13 },
    ],
    { ...BERLIN, counts: true, now },
  );

  assert.deepEqual(hours.slice(0, 4), [1, undefined, 2, undefined]);
  assert.equal(hours.length, 24);
  assert.equal(sumOf(hours), 3);
});

test("a counter reset gives no value for that step", () => {
  const readings = [5_000, 0.25, 0.75].map((value, index) => ({
    at: at("2026-11-20T01:00") + index * 300_000,
    value,
  }));

  const [, used] = hoursOfToday(readings, { ...BERLIN, counts: true, now });

  assert.equal(used, 0.5);
});

test("power counts while it is reported, and not during gaps", () => {
  const readings = [
    { at: at("2026-11-20T00:00"), value: 1200 },
    { at: at("2026-11-20T00:30"), value: 1200 },
    { at: at("2026-11-20T02:59"), value: 800 },
  ];

  const hours = hoursOfToday(readings, { ...BERLIN, counts: false, now });

  assert.equal(hours[0], 0.6);
  assert.equal(hours[2], 0);
});

test("a missing measurement is not shown as zero usage", () => {
  assert.equal(sumOf(hoursOfToday([], { ...BERLIN, counts: true, now })), undefined);
  assert.equal(hourOf(at("2026-11-20T00:10"), BERLIN), 0);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { instantOf, startOfDay, wallClock } from "../../../plugin-sdk/time/zone.ts";

const day = (date: string, timeZone: string) => new Date(startOfDay(date, timeZone)).toISOString();
const clock = (instant: string, timeZone: string) =>
  new Date(wallClock(Date.parse(instant), timeZone)).toISOString();

test("a day begins at midnight of its zone, on either side of a change of DST", () => {
  assert.equal(day("2026-03-29", "Europe/Berlin"), "2026-03-28T23:00:00.000Z");
  assert.equal(day("2026-03-30", "Europe/Berlin"), "2026-03-29T22:00:00.000Z");
  assert.equal(day("2026-11-02", "America/New_York"), "2026-11-02T05:00:00.000Z");
  assert.equal(day("2026-06-01", "Asia/Kathmandu"), "2026-05-31T18:15:00.000Z");
});

test("a day whose midnight DST skips begins an hour later, and of two midnights the first counts", () => {
  assert.equal(day("2018-11-04", "America/Sao_Paulo"), "2018-11-04T03:00:00.000Z");
  assert.equal(
    clock(day("2018-11-04", "America/Sao_Paulo"), "America/Sao_Paulo"),
    "2018-11-04T01:00:00.000Z",
  );
  assert.equal(day("2026-11-01", "America/Havana"), "2026-11-01T04:00:00.000Z");
});

test("local times of a zone are correct", () => {
  assert.equal(clock("2026-11-20T23:30:00Z", "Asia/Tokyo"), "2026-11-21T08:30:00.000Z");
  assert.equal(clock("2026-11-20T00:00:00Z", "UTC"), "2026-11-20T00:00:00.000Z");
});

test("the first and last representable days have a beginning", () => {
  assert.equal(day("0000-01-01", "UTC"), "0000-01-01T00:00:00.000Z");
  assert.equal(day("0000-01-01", "Etc/GMT+5"), "0000-01-01T05:00:00.000Z");
  assert.equal(day("0000-01-01", "Etc/GMT-5"), "-000001-12-31T19:00:00.000Z");
  assert.equal(day("9999-12-31", "Etc/GMT+5"), "9999-12-31T05:00:00.000Z");
  assert.equal(day("9999-12-31", "Etc/GMT-5"), "9999-12-30T19:00:00.000Z");
});

test("a time that a change of clocks skips is at the change, and of two equal times the first counts", () => {
  const at = (wall: string, timeZone: string) =>
    new Date(instantOf(Date.parse(`${wall}Z`), timeZone)).toISOString();

  assert.equal(at("2026-03-29T02:30", "Europe/Berlin"), "2026-03-29T01:00:00.000Z");
  assert.equal(at("2026-10-25T02:30", "Europe/Berlin"), "2026-10-25T00:30:00.000Z");
  assert.equal(at("2026-10-04T02:15", "Australia/Lord_Howe"), "2026-10-03T15:30:00.000Z");
});

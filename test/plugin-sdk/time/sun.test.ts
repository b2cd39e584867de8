import assert from "node:assert/strict";
import { test } from "node:test";
import { sunAt } from "../../../plugin-sdk/time/sun.ts";

const BERLIN = { latitude: 52.52, longitude: 13.405 };
/** Longyearbyen. */
const ARCTIC = { latitude: 78.22, longitude: 15.65 };

/** True if an instant is within three minutes of that in an almanac. */
function isAbout(instant: string | null, expected: string): void {
  const differenceMs = Math.abs(Date.parse(instant ?? "") - Date.parse(expected));
  assert.ok(differenceMs < 180_000, `${instant} is not about ${expected}`);
}

test("the sun rises and sets as in the almanac", () => {
  const { elevation, azimuth, isUp, nextRise, nextSet } = sunAt(
    BERLIN,
    new Date("2026-06-21T11:10:00Z"),
  );

  assert.ok(elevation > 60.5 && elevation < 61.2);
  assert.ok(azimuth > 175 && azimuth < 185);
  assert.equal(isUp, true);
  isAbout(nextSet, "2026-06-21T19:33:00Z");
  isAbout(nextRise, "2026-06-22T02:43:00Z");
});

test("at night the next rise comes before the next set", () => {
  const { elevation, isUp, nextRise } = sunAt(BERLIN, new Date("2026-12-21T02:00:00Z"));

  assert.ok(elevation < -18);
  assert.equal(isUp, false);
  isAbout(nextRise, "2026-12-21T07:15:00Z");
});

test("in the polar night the next rise is that of the spring", () => {
  const { isUp, nextRise, nextSet } = sunAt(ARCTIC, new Date("2026-12-21T11:00:00Z"));

  assert.equal(isUp, false);
  assert.match(nextRise ?? "", /^2027-02/);
  assert.match(nextSet ?? "", /^2027-02/);
});

test("in the polar day the sun is up, and sets in the late summer", () => {
  const { isUp, nextSet } = sunAt(ARCTIC, new Date("2026-06-21T00:00:00Z"));

  assert.equal(isUp, true);
  assert.match(nextSet ?? "", /^2026-08/);
});

test("at a pole there is a rise and a set once a year", () => {
  const { isUp } = sunAt({ latitude: 90, longitude: 0 }, new Date("2026-06-21T00:00:00Z"));

  assert.equal(isUp, true);
});

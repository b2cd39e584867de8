import assert from "node:assert/strict";
import { test } from "node:test";
import ICAL from "ical.js";
import { zoneLines } from "../../../plugins/calendar/ics/zone-text.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";

const HOUR_MS = 3_600_000;
/** An odd number of hours, so that all times of day come. */
const STEP_MS = 37 * HOUR_MS;

/** Zones with usual rules, without changes, with half hours, with negative summer time, and with a change each year. */
for (const name of [
  "Europe/Berlin",
  "America/New_York",
  "America/Santiago",
  "Australia/Lord_Howe",
  "Europe/Dublin",
  "Asia/Kolkata",
  "Asia/Jerusalem",
  "Africa/Casablanca",
]) {
  test(`other programs read the description of ${name} as Mantel means it, from January of its first year on`, () => {
    const zone = findZone(name) ?? UTC;
    const text = ["BEGIN:VCALENDAR", ...zoneLines(zone, 2026), "END:VCALENDAR"].join("\r\n");
    const component = new ICAL.Component(ICAL.parse(text) as unknown[]);
    const read = new ICAL.Timezone(component.getFirstSubcomponent("vtimezone") ?? assert.fail());

    const wrong: string[] = [];
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2046, 0, 1); at += STEP_MS) {
      const local = new Date(at + zone.offsetAt(at)).toISOString().slice(0, 19);
      const time = ICAL.Time.fromDateTimeString(local);
      const offsetMs = read.utcOffset(time) * 1000;
      const isNearChange = zone.offsetAt(at - STEP_MS) !== zone.offsetAt(at + STEP_MS);
      if (!isNearChange && offsetMs !== zone.offsetAt(at)) wrong.push(local);
    }

    assert.deepEqual(wrong.slice(0, 5), []);
  });
}

test("a zone is described from the first year of all times that are in it", async () => {
  const { newObject } = await import("../../../plugins/calendar/ics/new-event.ts");
  const context = { zone: UTC, now: 0, newUid: () => "a" };
  const start = { dateTime: "2026-01-05T09:00:00Z", timeZone: "Europe/Berlin" };

  const text = newObject({ title: "a", start }, context).bytes.toString();

  assert.match(text, /BEGIN:STANDARD\r\nDTSTART:20251026T030000/);
});

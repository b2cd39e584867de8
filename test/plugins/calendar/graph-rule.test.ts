import assert from "node:assert/strict";
import { test } from "node:test";
import type { Moment } from "../../../plugins/calendar/ics/moment.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { recurrenceOf } from "../../../plugins/calendar/web/graph-rule.ts";

/** Tuesday, the second of June 2026 and the first Tuesday of the month. */
const START: Moment = {
  allDay: false,
  wall: Date.UTC(2026, 5, 2, 18),
  zone: findZone("Europe/Berlin") ?? UTC,
};
const range = { startDate: "2026-06-02", recurrenceTimeZone: "W. Europe Standard Time" };
const noEnd = { ...range, type: "noEnd" };

for (const [rule, pattern, wanted] of [
  ["FREQ=DAILY;INTERVAL=2", { type: "daily", interval: 2 }, noEnd],
  [
    "FREQ=WEEKLY;BYDAY=TU,FR;WKST=SU",
    { type: "weekly", interval: 1, daysOfWeek: ["tuesday", "friday"], firstDayOfWeek: "sunday" },
    noEnd,
  ],
  ["FREQ=MONTHLY", { type: "absoluteMonthly", interval: 1, dayOfMonth: 2 }, noEnd],
  [
    "FREQ=MONTHLY;BYDAY=1TU",
    { type: "relativeMonthly", interval: 1, daysOfWeek: ["tuesday"], index: "first" },
    noEnd,
  ],
  [
    "FREQ=MONTHLY;BYDAY=TU;BYSETPOS=-1;COUNT=5",
    { type: "relativeMonthly", interval: 1, daysOfWeek: ["tuesday"], index: "last" },
    { ...range, type: "numbered", numberOfOccurrences: 5 },
  ],
  ["FREQ=YEARLY", { type: "absoluteYearly", interval: 1, dayOfMonth: 2, month: 6 }, noEnd],
  [
    "FREQ=YEARLY;BYMONTH=6;BYDAY=1TU",
    { type: "relativeYearly", interval: 1, daysOfWeek: ["tuesday"], index: "first", month: 6 },
    noEnd,
  ],
  // until noon of the 30th: the last occurrence in the evening is on the 29th
  [
    "FREQ=DAILY;UNTIL=20260630T100000Z",
    { type: "daily", interval: 1 },
    { ...range, type: "endDate", endDate: "2026-06-29" },
  ],
  [
    "FREQ=DAILY;UNTIL=20260630T160000Z",
    { type: "daily", interval: 1 },
    { ...range, type: "endDate", endDate: "2026-06-30" },
  ],
] as const) {
  test(`${rule} is a pattern of Microsoft`, () => {
    assert.deepEqual(recurrenceOf(rule, START, UTC), { pattern, range: wanted });
  });
}

for (const rule of [
  "FREQ=HOURLY",
  "FREQ=DAILY;BYMONTH=6",
  "FREQ=DAILY;BYHOUR=9,18",
  "FREQ=WEEKLY;BYDAY=MO", // the start is not one of its occurrences
  "FREQ=MONTHLY;BYMONTHDAY=2,15",
  "FREQ=MONTHLY;BYDAY=TU",
  "FREQ=MONTHLY;BYDAY=TU,WE;BYSETPOS=1",
  "FREQ=YEARLY;BYDAY=1TU", // of the year, not of June
  "FREQ=YEARLY;BYWEEKNO=23",
]) {
  test(`${rule} is refused, because Microsoft has no such pattern`, () => {
    assert.throws(() => recurrenceOf(rule, START, UTC), {
      code: "invalid",
      message: /Microsoft does not have/,
    });
  });
}

test("the 31st of each month is refused, because Microsoft takes the 30th in June", () => {
  const start = { ...START, wall: Date.UTC(2026, 4, 31, 18) };

  assert.throws(() => recurrenceOf("FREQ=MONTHLY", start, UTC), { code: "invalid" });
});

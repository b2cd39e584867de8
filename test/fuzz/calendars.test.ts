import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk";
import { CalendarEvent } from "@mantel/plugin-sdk/calendar";
import * as fc from "fast-check";
import { faultsOf } from "../../host/validate.ts";
import { Feed } from "../../plugins/calendar/ics/feed.ts";
import { UTC } from "../../plugins/calendar/ics/zones.ts";
import { oddText } from "../../scripts/fuzz/values.ts";
import { checkProperty } from "./settings.ts";

const DAY_MS = 86_400_000;
const FROM = Date.UTC(2026, 10, 1);
const NAMES = [
  ...["UID", "SEQUENCE", "DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE"],
  ...["RECURRENCE-ID", "STATUS", "TRANSP", "SUMMARY", "LOCATION", "URL", "COLOR", "X-WR-TIMEZONE"],
  ...["BEGIN", "END", "TZID", "TZOFFSETTO", "TZOFFSETFROM"],
];
const moment = fc.oneof(
  fc.constantFrom(
    ...["20261120", "20261120T090000Z", "20261120T256161", "19690229", "99991231T235959Z"],
  ),
  fc.constantFrom(...["20261120T090000/PT1H", "PT1H", "-P1W", "P99999999D", "00000000T000000"]),
);
const rulePart = fc.oneof(
  fc
    .constantFrom(...["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "SECONDLY"])
    .map((freq) => `FREQ=${freq}`),
  fc
    .tuple(
      fc.constantFrom(
        ...[
          "INTERVAL",
          "COUNT",
          "BYMONTH",
          "BYMONTHDAY",
          "BYSETPOS",
          "BYWEEKNO",
          "BYHOUR",
          "BYYEARDAY",
        ],
      ),
      fc.array(fc.integer({ min: -400, max: 400 }), { minLength: 1, maxLength: 4 }),
    )
    .map(([name, values]) => `${name}=${values.join(",")}`),
  fc.constantFrom(
    ...[
      "BYDAY=MO,-1SU,53TU",
      "WKST=SA",
      "UNTIL=20270101",
      "UNTIL=x",
      "COUNT=999999999",
      "BYDAY=",
      "=",
    ],
  ),
);
const value = fc.oneof(
  { weight: 4, arbitrary: moment },
  {
    weight: 3,
    arbitrary: fc.array(rulePart, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(";")),
  },
  { weight: 2, arbitrary: oddText },
  {
    weight: 1,
    arbitrary: fc.constantFrom("VEVENT", "VCALENDAR", "VTIMEZONE", "STANDARD", "+0100", "-9999"),
  },
);
const parameter = fc.constantFrom(
  ...[
    "",
    "",
    "",
    ";VALUE=DATE",
    ";VALUE=PERIOD",
    ";TZID=Europe/Berlin",
    ";TZID=Nowhere",
    ';TZID="a;b:c"',
  ],
  ...[";RANGE=THISANDFUTURE", ";=", ";X"],
);
const line = fc.oneof(
  {
    weight: 10,
    arbitrary: fc
      .tuple(fc.constantFrom(...NAMES), parameter, value)
      .map(([name, by, of]) => `${name}${by}:${of}`),
  },
  { weight: 1, arbitrary: oddText },
);
const event = fc
  .tuple(fc.constantFrom("a", "b", ""), moment, fc.array(line, { maxLength: 6 }))
  .map(([uid, start, lines]) => [
    "BEGIN:VEVENT",
    `UID:${uid}`,
    `DTSTART:${start}`,
    ...lines,
    "END:VEVENT",
  ]);
const feed = fc
  .tuple(
    fc.array(line, { maxLength: 2 }),
    fc.array(
      fc.oneof(
        event,
        line.map((each) => [each]),
      ),
      { maxLength: 5 },
    ),
  )
  .map(([head, parts]) => ["BEGIN:VCALENDAR", ...head, ...parts.flat(), "END:VCALENDAR"])
  .chain((lines) => fc.constantFrom("\r\n", "\n", "\r\n ").map((end) => lines.join(end)));
const marking = { calendarId: "fuzz", color: "#123456" };

test("any calendar is read in time into valid events, or refused", async (t) => {
  let longestMs = 0;
  const property = fc.asyncProperty(feed, async (text) => {
    const before = process.cpuUsage();
    try {
      const read = await Feed.read(Buffer.from(text), UTC);
      const span = { from: FROM, to: FROM + 60 * DAY_MS };
      const { events } = await read.eventsIn(span, marking);
      for (const each of events) assert.deepEqual(faultsOf(CalendarEvent, each), [], text);
    } catch (error) {
      assert.ok(error instanceof MantelError, String((error as Error).stack));
    }
    longestMs = Math.max(longestMs, process.cpuUsage(before).user / 1_000);
  });

  await checkProperty(t, property, 3_000);

  t.diagnostic(`the longest took ${Math.round(longestMs)} ms of CPU time`);
  assert.ok(longestMs < 2_000);
});

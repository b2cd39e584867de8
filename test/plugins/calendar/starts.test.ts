import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMoment } from "../../../plugins/calendar/ics/moment.ts";
import { parseRule } from "../../../plugins/calendar/ics/recurrence.ts";
import { Budget, startsOf } from "../../../plugins/calendar/ics/starts.ts";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";

/** Starts of a rule, as `1997-09-02` or, when the rule names times, as `1997-09-02T09`. */
function starts(
  rule: string,
  first: string,
  { from = first, to = "2007-01-01", days = 200_000 } = {},
) {
  const start = parseMoment(first, UTC);
  const span = { from: parseMoment(from, UTC).wall, to: parseMoment(to, UTC).wall };
  const length = /BYHOUR|HOURLY/.test(rule) ? 13 : 10;
  const budget = new Budget(days);
  return [...startsOf(parseRule(rule, start), start.wall, { span, budget })].map((wall) =>
    new Date(wall).toISOString().slice(0, length),
  );
}

test("an hourly rule with an end in UTC gives the hours up to it", () => {
  const hours = starts("FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z", "1997-09-02T09:00:00");

  assert.deepEqual(hours, ["1997-09-02T09", "1997-09-02T12", "1997-09-02T15"]);
});

test("a rule gives each time of day that it names", () => {
  const times = starts("FREQ=DAILY;BYHOUR=9,17;COUNT=3", "1997-09-02T09:00:00");

  assert.deepEqual(times, ["1997-09-02T09", "1997-09-02T17", "1997-09-03T09"]);
});

test("a start that its own rule misses is not given by it, and is counted", () => {
  assert.deepEqual(starts("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=2", "1997-09-02"), [
    "1998-02-13",
  ]);
});

test("an end that is a date covers the whole of that day", () => {
  const days = starts("FREQ=DAILY;UNTIL=19970903", "1997-09-02T22:00:00");

  assert.deepEqual(days, ["1997-09-02", "1997-09-03"]);
});

test("February 29 comes in leap years alone", () => {
  assert.deepEqual(starts("FREQ=YEARLY", "1996-02-29"), ["1996-02-29", "2000-02-29", "2004-02-29"]);
});

test("week 53 comes only in the years that have one", () => {
  const weeks = starts("FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO", "1998-12-28", { to: "2016-01-01" });

  assert.deepEqual(weeks, ["1998-12-28", "2004-12-27", "2009-12-28", "2015-12-28"]);
});

test("starting near the window gives the same starts as following the rule from its first", () => {
  const rules = [
    "FREQ=YEARLY;INTERVAL=3;BYMONTH=2,9;BYDAY=-1TU",
    "FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=31",
    "FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,SU;WKST=TU",
    "FREQ=DAILY;INTERVAL=7;BYMONTH=1,6",
    "FREQ=HOURLY;INTERVAL=31",
  ];

  for (const rule of rules) {
    const followed = starts(rule, "1997-01-31T09:00:00").filter((day) => day >= "2005-06-01");
    const near = starts(rule, "1997-01-31T09:00:00", { from: "2005-06-01" });
    assert.ok(followed.length > 0, rule);
    assert.deepEqual(
      near.filter((day) => day >= "2005-06-01"),
      followed,
      rule,
    );
  }
});

test("rules by the second and minute, and a hundred times a day, are refused by name", () => {
  assert.throws(() => starts("FREQ=SECONDLY", "1997-09-02"), {
    code: "invalid",
    message: /SECONDLY/,
  });
  assert.throws(() => starts("FREQ=MINUTELY", "1997-09-02"), {
    code: "invalid",
    message: /MINUTELY/,
  });
  const everyMinute = `BYMINUTE=${Array.from({ length: 60 }, (_, minute) => minute).join(",")}`;
  assert.throws(() => starts(`FREQ=HOURLY;${everyMinute}`, "1997-09-02T00:00:00"), {
    code: "invalid",
    message: /1440 times a day/,
  });
});

test("a rule that never comes true ends with the window", () => {
  assert.deepEqual(starts("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "1997-09-02"), []);
});

test("a rule that needs more days than its budget is refused", () => {
  assert.throws(() => starts("FREQ=DAILY;COUNT=1000", "1997-09-02", { days: 500 }), {
    code: "invalid",
    message: /too long/,
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMoment } from "../../../plugins/calendar/moment.ts";
import { parseRule } from "../../../plugins/calendar/recurrence.ts";
import { Budget, startsOf } from "../../../plugins/calendar/starts.ts";
import { UTC } from "../../../plugins/calendar/zones.ts";

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

/** The examples of RFC 5545, 3.8.5.3, with their first starts: rule, first start, expected. */
const EXAMPLES: [rule: string, first: string, expected: string][] = [
  ["FREQ=DAILY;COUNT=3", "1997-09-02", "1997-09-02 1997-09-03 1997-09-04"],
  [
    "FREQ=DAILY;INTERVAL=10;COUNT=5",
    "1997-09-02",
    "1997-09-02 1997-09-12 1997-09-22 1997-10-02 1997-10-12",
  ],
  [
    "FREQ=WEEKLY;INTERVAL=2;COUNT=8;WKST=SU;BYDAY=TU,TH",
    "1997-09-02",
    "1997-09-02 1997-09-04 1997-09-16 1997-09-18 1997-09-30 1997-10-02 1997-10-14 1997-10-16",
  ],
  [
    "FREQ=MONTHLY;COUNT=10;BYDAY=1FR",
    "1997-09-05",
    "1997-09-05 1997-10-03 1997-11-07 1997-12-05 1998-01-02 1998-02-06 1998-03-06 1998-04-03 1998-05-01 1998-06-05",
  ],
  [
    "FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU",
    "1997-09-07",
    "1997-09-07 1997-09-28 1997-11-02 1997-11-30 1998-01-04 1998-01-25 1998-03-01 1998-03-29 1998-05-03 1998-05-31",
  ],
  [
    "FREQ=MONTHLY;COUNT=6;BYDAY=-2MO",
    "1997-09-22",
    "1997-09-22 1997-10-20 1997-11-17 1997-12-22 1998-01-19 1998-02-16",
  ],
  [
    "FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=4",
    "1997-09-28",
    "1997-09-28 1997-10-29 1997-11-28 1997-12-29",
  ],
  [
    "FREQ=MONTHLY;COUNT=6;BYMONTHDAY=1,-1",
    "1997-09-30",
    "1997-09-30 1997-10-01 1997-10-31 1997-11-01 1997-11-30 1997-12-01",
  ],
  ["FREQ=YEARLY;COUNT=4;BYMONTH=6,7", "1997-06-10", "1997-06-10 1997-07-10 1998-06-10 1998-07-10"],
  [
    "FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200",
    "1997-01-01",
    "1997-01-01 1997-04-10 1997-07-19 2000-01-01 2000-04-09 2000-07-18 2003-01-01 2003-04-10 2003-07-19 2006-01-01",
  ],
  ["FREQ=YEARLY;BYDAY=20MO;COUNT=3", "1997-05-19", "1997-05-19 1998-05-18 1999-05-17"],
  ["FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3", "1997-05-12", "1997-05-12 1998-05-11 1999-05-17"],
  [
    "FREQ=YEARLY;BYMONTH=3;BYDAY=TH;COUNT=5",
    "1997-03-13",
    "1997-03-13 1997-03-20 1997-03-27 1998-03-05 1998-03-12",
  ],
  [
    "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=4",
    "1998-02-13",
    "1998-02-13 1998-03-13 1998-11-13 1999-08-13",
  ],
  [
    "FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13;COUNT=4",
    "1997-09-13",
    "1997-09-13 1997-10-11 1997-11-08 1997-12-13",
  ],
  [
    "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
    "1996-11-05",
    "1996-11-05 2000-11-07 2004-11-02",
  ],
  [
    "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
    "1997-09-04",
    "1997-09-04 1997-10-07 1997-11-06",
  ],
  [
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=4",
    "1997-09-29",
    "1997-09-29 1997-10-30 1997-11-27 1997-12-30",
  ],
  [
    "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
    "1997-08-05",
    "1997-08-05 1997-08-10 1997-08-19 1997-08-24",
  ],
  [
    "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
    "1997-08-05",
    "1997-08-05 1997-08-17 1997-08-19 1997-08-31",
  ],
  [
    "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5",
    "2007-01-15",
    "2007-01-15 2007-01-30 2007-02-15 2007-03-15 2007-03-30",
  ],
];

for (const [rule, first, expected] of EXAMPLES) {
  test(`RFC 5545 example: ${rule} from ${first}`, () => {
    assert.equal(starts(rule, first, { to: "2007-12-31" }).join(" "), expected);
  });
}

test("an hourly rule with an end in UTC gives the hours up to it", () => {
  const hours = starts("FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T170000Z", "1997-09-02T09:00:00");

  assert.deepEqual(hours, ["1997-09-02T09", "1997-09-02T12", "1997-09-02T15"]);
});

test("a rule gives each time of day that it names", () => {
  const times = starts("FREQ=DAILY;BYHOUR=9,17;COUNT=3", "1997-09-02T09:00:00");

  assert.deepEqual(times, ["1997-09-02T09", "1997-09-02T17", "1997-09-03T09"]);
});

test("a start that its own rule misses is the first occurrence and is counted", () => {
  assert.deepEqual(starts("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=2", "1997-09-02"), [
    "1997-09-02",
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
  assert.deepEqual(starts("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "1997-09-02"), ["1997-09-02"]);
});

test("a rule that needs more days than its budget is refused", () => {
  assert.throws(() => starts("FREQ=DAILY;COUNT=1000", "1997-09-02", { days: 500 }), {
    code: "invalid",
    message: /too long/,
  });
});

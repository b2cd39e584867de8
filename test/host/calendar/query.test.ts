import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEventQuery } from "../../../host/calendar/query.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");

function parse(query: string) {
  const defaults = { timeZone: "Europe/Berlin", days: 14, now: NOW };
  const { start, end, ...rest } = parseEventQuery(new URLSearchParams(query), defaults);
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString(), ...rest };
}

test("without parameters the window starts now and has the configured length", () => {
  assert.deepEqual(parse(""), {
    start: "2026-11-20T12:00:00.000Z",
    end: "2026-12-04T12:00:00.000Z",
    timeZone: "Europe/Berlin",
    calendars: [],
    limit: 2000,
  });
});

test("dates are days of the zone, also where DST changes in between", () => {
  const { start, end } = parse("start=2026-03-28&end=2026-03-30");
  assert.deepEqual([start, end], ["2026-03-27T23:00:00.000Z", "2026-03-29T22:00:00.000Z"]);

  const abroad = parse("from=2026-03-28&to=2026-03-30&tz=America/New_York");
  assert.equal(abroad.start, "2026-03-28T04:00:00.000Z");
  assert.equal(abroad.timeZone, "America/New_York");
});

test("instants are accepted in every form of RFC 3339, even with a plus sign decoded as a space", () => {
  const forms = [
    "2026-11-21T09:00:00Z",
    "2026-11-21t10:00:00.0%2B01:00",
    "2026-11-21T10:00:00+01:00",
    "2026-11-21T04:00:00-05:00",
  ];

  for (const form of forms) {
    assert.equal(parse(`start=${form}`).start, "2026-11-21T09:00:00.000Z", form);
  }
});

test("a whole leap year is not too long, even where its days have an hour more", () => {
  assert.ok(parse("start=2028-01-01&end=2029-01-01"));
  const { start, end } = parse("start=2025-10-26&end=2026-10-27");
  assert.deepEqual([start, end], ["2025-10-25T22:00:00.000Z", "2026-10-26T23:00:00.000Z"]);
  assert.ok(parse("start=2026-07-01T00:00:00Z&end=2027-07-02T00:00:00Z"));
});

const WRONG: [query: string, pointer: string, detail: RegExp][] = [
  ["start=tomorrow", "/start", /tomorrow is not an RFC 3339 instant or date/],
  ["start=2026-02-30", "/start", /2026-02-30/],
  ["start=2026-02-30&end=2026-03-01", "/start", /2026-02-30/],
  ["start=2020-01-01&end=2027-02-30", "/end", /2027-02-30/],
  ["start=2026-11-22&start=2026-11-20&end=2026-11-21", "/start", /more than once/],
  ["start=2026-11-20T24:00:00Z", "/start", /not an RFC 3339/],
  ["start=2026-11-20T09:00:00", "/start", /not an RFC 3339/],
  ["start=0001-01-01", "/start", /1900 to 2199/],
  ["from=x", "/from", /not an RFC 3339/],
  ["start=2026-11-20&from=2026-11-20", "/from", /another name of start/],
  ["start=2026-11-20&start=2026-11-21", "/start", /more than once/],
  ["start=2026-11-21&end=2026-11-20", "/end", /after start/],
  ["start=2026-11-20&end=2026-11-20", "/end", /after start/],
  ["start=2026-01-01&end=2027-01-04", "/end", /at most 366 days/],
  ["start=2026-12-01T00:00:00Z&end=2027-12-02T00:00:01Z", "/end", /at most 366 days/],
  ["start=2026-12-01&end=2027-12-02T01:00:00%2B01:00", "/end", /at most 366 days/],
  ["start=2026-12-01&end=2027-12-03&tz=UTC", "/end", /at most 366 days/],
  ["tz=Mars/Olympus", "/tz", /not an IANA time zone/],
  ["tz=%2B01:00", "/tz", /not an IANA time zone/],
  ["limit=0", "/limit", /from 1 to 2000/],
  ["limit=2001", "/limit", /from 1 to 2000/],
  ["limit=ten", "/limit", /from 1 to 2000/],
  ["limt=5", "/limt", /unknown parameter limt/],
  ["a~%2Fb=5", "/a~0~1b", /unknown parameter a~\/b/],
];

for (const [query, pointer, detail] of WRONG) {
  test(`${query} is refused and the parameter named`, () => {
    assert.throws(
      () => parse(query),
      (error: { code: string; extras: { errors: { pointer: string; detail: string }[] } }) => {
        assert.equal(error.code, "invalid");
        assert.deepEqual(
          error.extras.errors.map((each) => each.pointer),
          [pointer],
        );
        assert.match(error.extras.errors[0]?.detail ?? "", detail);
        return true;
      },
    );
  });
}

test("all faults of a query are listed at once", () => {
  assert.throws(
    () => parse("tz=nowhere&limit=-1&colour=red"),
    (error: { extras: { errors: unknown[] } }) => error.extras.errors.length === 3,
  );
});

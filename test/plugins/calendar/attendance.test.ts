import assert from "node:assert/strict";
import { test } from "node:test";
import { attendanceOf } from "../../../plugins/calendar/ics/attendance.ts";
import { calendar, event } from "./calendar-text.ts";
import { expand } from "./expand.ts";

const OWN = ["ann@example.org", "ann@work.example"];

test("an answer by one address counts more than none by another, and acceptance most", () => {
  const both = (a: string, b: string) => [
    `ATTENDEE;PARTSTAT=${a}:mailto:ann@example.org`,
    `ATTENDEE;PARTSTAT=${b}:mailto:ann@work.example`,
  ];

  assert.equal(attendanceOf(both("NEEDS-ACTION", "DECLINED"), OWN), "declined");
  assert.equal(attendanceOf(both("DECLINED", "ACCEPTED"), OWN), "accepted");
  assert.equal(attendanceOf(both("DECLINED", "DECLINED"), []), undefined);
});

test("without a known answer one is needed, and other people's answers do not count", () => {
  assert.equal(attendanceOf(["ATTENDEE:mailto:ann@example.org"], OWN), "needs-action");
  const unknown = "ATTENDEE;PARTSTAT=X-MAYBE:mailto:ann@example.org";
  assert.equal(attendanceOf([unknown], OWN), "needs-action");
  const other = "ATTENDEE;PARTSTAT=DECLINED:mailto:joann@example.org";
  assert.equal(attendanceOf([other, "ATTENDEE ann@example.org"], OWN), undefined);
});

test("an event is shown whose attendees have more text than an event may have", async () => {
  const name = "x".repeat(60);
  const many = Array.from({ length: 8_000 }, (_, at) => `ATTENDEE;CN=${name}:mailto:${at}@b.c`);

  const { starts, skipped } = await expand(
    calendar(event("UID:a", "DTSTART:20260601T090000Z", ...many)),
  );

  assert.deepEqual([starts, skipped], [["2026-06-01T09:00:00Z"], 0]);
});

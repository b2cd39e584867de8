import assert from "node:assert/strict";
import { test } from "node:test";
import { calendar, event } from "./calendar-text.ts";
import { expand } from "./expand.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const alarm = (...lines: string[]) =>
  ["BEGIN:VALARM", "ACTION:DISPLAY", ...lines, "END:VALARM"].join("\r\n");

/** The reminders of the occurrences of an event, by default from 9:00 to 10:00 in Berlin. */
async function remindersOf(lines: string[], ...more: string[]) {
  const times = ["DTSTART;TZID=Europe/Berlin:20260601T090000", "DURATION:PT1H"];
  const all = lines.some((line) => line.startsWith("DTSTART")) ? lines : [...times, ...lines];
  const { events } = await expand(calendar(event("UID:a", ...all), ...more));
  return events.map(({ reminders }) => reminders);
}

test("alarms before, at and after the start or end are reminders, each once", async () => {
  const [reminders] = await remindersOf([
    alarm("TRIGGER:-PT15M"),
    alarm("TRIGGER;VALUE=DURATION:-P1DT2H"),
    alarm("TRIGGER;RELATED=END:-PT5M"),
    alarm("TRIGGER:PT0S"),
    alarm("DESCRIPTION:again", "TRIGGER:-PT15M"),
    alarm("TRIGGER;VALUE=DATE-TIME:20260601T050000Z"),
  ]);

  assert.deepEqual(reminders, [
    { offsetMs: -15 * MINUTE_MS },
    { offsetMs: -26 * HOUR_MS },
    { offsetMs: 55 * MINUTE_MS },
    { offsetMs: 0 },
    { at: "2026-06-01T05:00:00.000Z" },
  ]);
});

test("alarms that are none, or cannot be read, and alarms of tasks are left out", async () => {
  const reminders = await remindersOf(
    [
      alarm("TRIGGER:soon"),
      alarm("TRIGGER:P"),
      alarm("TRIGGER:-P900W"),
      alarm("TRIGGER;VALUE=DATE-TIME:20260601T050000"),
      alarm("TRIGGER broken"),
      alarm("SUMMARY:without a trigger"),
      alarm("PROXIMITY:ARRIVE", "TRIGGER:-PT1M"),
      "BEGIN:VALARM\r\nTRIGGER:-PT2M\r\nACTION:NONE\r\nEND:VALARM",
    ],
    ["BEGIN:VTODO", "UID:b", alarm("TRIGGER:-PT4M"), "END:VTODO"].join("\r\n"),
  );

  assert.deepEqual(reminders, [undefined]);
});

test("a day before is the same time of day, also over a change of clocks", async () => {
  const reminders = await remindersOf([
    "DTSTART;TZID=Europe/Berlin:20260329T090000",
    "RRULE:FREQ=DAILY;COUNT=2",
    alarm("TRIGGER:-P1D"),
    alarm("TRIGGER:-PT24H"),
    alarm("TRIGGER;VALUE=DATE-TIME:20260329T050000Z"),
  ]);

  assert.deepEqual(reminders, [
    [{ offsetMs: -23 * HOUR_MS }, { offsetMs: -24 * HOUR_MS }],
    [{ offsetMs: -24 * HOUR_MS }],
  ]);
});

test("reminders of a whole day count from its midnight", async () => {
  const day = ["DTSTART;VALUE=DATE:20260601", "DTEND;VALUE=DATE:20260603"];
  const alarms = [alarm("TRIGGER:-PT15H"), alarm("TRIGGER;RELATED=END:-P1D")];

  assert.deepEqual(await remindersOf([...day, ...alarms]), [
    [{ offsetMs: -15 * HOUR_MS }, { offsetMs: 24 * HOUR_MS }],
  ]);
});

test("a changed occurrence has its own reminders, and a cancelled event has none", async () => {
  const series = ["RRULE:FREQ=DAILY;COUNT=2", alarm("TRIGGER:-PT15M")];
  const moved = event(
    "UID:a",
    "RECURRENCE-ID;TZID=Europe/Berlin:20260602T090000",
    "DTSTART;TZID=Europe/Berlin:20260602T110000",
    alarm("TRIGGER:-PT30M"),
  );

  assert.deepEqual(await remindersOf(series, moved), [
    [{ offsetMs: -15 * MINUTE_MS }],
    [{ offsetMs: -30 * MINUTE_MS }],
  ]);
  assert.deepEqual(await remindersOf(["STATUS:CANCELLED", alarm("TRIGGER:-PT15M")]), [undefined]);
});

test("an event has at most ten reminders", async () => {
  const alarms = Array.from({ length: 20 }, (_, at) => alarm(`TRIGGER:-PT${at}M`));

  assert.equal((await remindersOf(alarms))[0]?.length, 10);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarEvent } from "@mantel/plugin-sdk";
import { toEngineEvent } from "../../../plugins/automations/engine-event.ts";

const HOUR_MS = 3_600_000;
const at = (text: string) => Date.parse(text);
const timed = (dateTime: string) => ({ dateTime, timeZone: "Europe/Berlin" });

function eventOf(part: Partial<CalendarEvent>): CalendarEvent {
  return {
    id: "home/a",
    calendarId: "home",
    uid: "a",
    recurrenceId: null,
    title: "Zoo",
    start: timed("2026-03-29T09:00:00+02:00"),
    end: timed("2026-03-29T10:00:00+02:00"),
    allDay: false,
    status: "confirmed",
    busy: true,
    location: null,
    description: null,
    url: null,
    color: null,
    ...part,
  };
}

test("reminders of a timed event are instants", () => {
  const reminders = [{ offsetMs: -HOUR_MS }, { at: "2026-03-28T12:00:00.000Z" }];

  const [event] = toEngineEvent(eventOf({ reminders }), "Europe/Berlin");

  assert.equal(event?.start, at("2026-03-29T07:00Z"));
  assert.deepEqual(event?.reminders, [at("2026-03-29T06:00Z"), at("2026-03-28T12:00Z")]);
});

test("reminders of a whole day are on the clock of the home, also over a change of clocks", () => {
  const day = { start: { date: "2026-03-29" }, end: { date: "2026-03-30" }, allDay: true };
  const reminders = [{ offsetMs: -15 * HOUR_MS }, { offsetMs: 9 * HOUR_MS }];

  const [event] = toEngineEvent(eventOf({ ...day, reminders }), "Europe/Berlin");

  assert.equal(event?.start, at("2026-03-28T23:00Z"));
  assert.deepEqual(event?.reminders, [at("2026-03-28T08:00Z"), at("2026-03-29T07:00Z")]);
});

test("a cancelled event is left out, and one without reminders has no such field", () => {
  assert.deepEqual(toEngineEvent(eventOf({ status: "cancelled" }), "UTC"), []);
  const [event] = toEngineEvent(eventOf({}), "UTC");
  assert.ok(event && !("reminders" in event));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { CalendarChunks } from "../../../host/modules/calls/calendar-chunks.ts";

const event = (id: string) => ({
  id,
  calendarId: "a",
  uid: id,
  recurrenceId: null,
  title: id,
  allDay: true,
  busy: true,
  start: { date: "2026-06-01" },
  end: { date: "2026-06-02" },
  status: "confirmed",
  location: null,
  description: null,
  url: null,
  color: null,
});
const window = (...parts: string[]) => ({
  start: "2026-01-01T00:00:00Z",
  end: "2027-01-01T00:00:00Z",
  sources: [],
  parts,
});
const idsOf = ({ events }: { readonly events: readonly { readonly id: string }[] }) =>
  events.map(({ id }) => id);

test("a window has the events of the parts that it names, in their order", () => {
  const parts = new CalendarChunks();
  parts.take({ hash: "1", events: [event("x"), event("y")] }, "calendar");
  parts.take({ hash: "2", events: [event("z")] }, "calendar");

  const before = parts.assemble(window("2", "1"), "calendar");
  const after = parts.assemble(window("1"), "calendar");

  assert.deepEqual(idsOf(before), ["z", "x", "y"]);
  assert.deepEqual(idsOf(after), ["x", "y"]);
  assert.equal(after.events[0], before.events[1]);
});

test("an unused part is forgotten, and naming it later is refused", () => {
  const parts = new CalendarChunks();
  parts.take({ hash: "1", events: [event("x")] }, "calendar");
  parts.assemble(window(), "calendar");

  assert.throws(() => parts.assemble(window("1"), "calendar"), {
    code: "invalid",
    message: /calendar\.window of calendar names a part that was not sent: 1/,
  });
});

test("faults in a part or a window are reported, and endless parts are refused", () => {
  const parts = new CalendarChunks();

  assert.throws(() => parts.take({ hash: "1", events: [{ id: 1 }] }, "club"), {
    code: "invalid",
    message: /a part of calendar\.window of club is invalid: \/events\/0/,
  });
  assert.throws(() => parts.assemble({ events: [] }, "club"), { code: "invalid" });
  for (let hash = 0; hash < 1_000; hash++) parts.take({ hash: `${hash}`, events: [] }, "club");
  assert.throws(() => parts.take({ hash: "more", events: [] }, "club"), { code: "invalid" });
});

test("the refusal of endless parts names the limit and the fix", () => {
  const parts = new CalendarChunks();
  for (let hash = 0; hash < 1_000; hash++) parts.take({ hash: `${hash}`, events: [] }, "club");

  assert.throws(() => parts.take({ hash: "more", events: [] }, "club"), {
    code: "invalid",
    message: "calendar.window of club has more than 1000 parts; publish fewer events",
  });
});

/** A part with a thousand events, which have together some eight million characters. */
const longPart = (hash: string) => {
  const long = { ...event("long"), description: "x".repeat(8_190) };
  return { hash, events: Array.from({ length: 1_000 }, () => long) };
};

test("the characters of categories count", () => {
  const parts = new CalendarChunks();
  const long = { ...event("long"), categories: Array<string>(20).fill("x".repeat(100)) };
  const events = Array.from({ length: 1_000 }, () => long);
  for (let hash = 0; hash < 33; hash++) parts.take({ hash: `${hash}`, events }, "club");

  assert.throws(() => parts.take({ hash: "more", events }, "club"), { code: "invalid" });
});

test("events of over 64 million characters are refused, and room is free again after a smaller window", () => {
  const parts = new CalendarChunks();
  const hashes = ["1", "2", "3", "4", "5", "6", "7", "8"];
  for (const hash of hashes) parts.take(longPart(hash), "club");

  assert.throws(() => parts.take(longPart("9"), "club"), {
    code: "invalid",
    message:
      "calendar.window of club has over 64 million characters of calendar events; publish fewer or shorter ones",
  });
  parts.assemble(window("1"), "club");
  for (const hash of hashes.slice(1)) parts.take(longPart(hash), "club");
  assert.throws(() => parts.take(longPart("9"), "club"), { code: "invalid" });
});

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
    message: /a part of calendar\.window of club is wrong: \/events\/0/,
  });
  assert.throws(() => parts.assemble({ events: [] }, "club"), { code: "invalid" });
  for (let hash = 0; hash < 1_000; hash++) parts.take({ hash: `${hash}`, events: [] }, "club");
  assert.throws(() => parts.take({ hash: "more", events: [] }, "club"), { code: "invalid" });
});

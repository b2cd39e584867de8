import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarTaskPatch } from "@mantel/plugin-sdk";
import { changedTask, newTask, readTask } from "../../../plugins/calendar/ics/task.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { calendar } from "./calendar-text.ts";

const BERLIN = findZone("Europe/Berlin") ?? UTC;
const CONTEXT = {
  zone: BERLIN,
  now: Date.parse("2026-05-01T12:00:00Z"),
  newUid: () => "new-uid",
};

const todo = (...lines: string[]) =>
  calendar("BEGIN:VTODO", "UID:milk", "SUMMARY:Milk", ...lines, "END:VTODO");

const read = async (bytes: Uint8Array) =>
  (await readTask(bytes, BERLIN)) ?? assert.fail("there is no task");

async function change(bytes: Buffer, fields: CalendarTaskPatch) {
  const changed = await changedTask(bytes, fields, CONTEXT);
  const lines = changed.toString().split("\r\n");
  const line = (name: string) => lines.find((each) => each.startsWith(name));
  return { changed, line, task: await read(changed) };
}

test("a new task has its fields, and the rules of the zone of its due time", async () => {
  const due = { dateTime: "2026-06-01T09:00:00+02:00", timeZone: "Europe/Berlin" };
  const fields = { title: "Milk, fresh", description: "two\nlitres", due, priority: 1 };

  const { uid, bytes } = newTask(fields, CONTEXT);

  assert.deepEqual(await read(bytes), {
    uid,
    ...fields,
    status: "needs-action",
    completedAt: null,
    repeats: false,
  });
  assert.match(bytes.toString(), /BEGIN:VTIMEZONE\r\nTZID:Europe\/Berlin\r\n/);
});

test("ticking off and reopening keep every line of others byte for byte", async () => {
  const others = [
    "X-APPLE-SORT-ORDER:7",
    'X-NOTE;X-P="a;b:c":a long line of another program that is folded in a pla\r\n ce of its own',
    "RELATED-TO:shopping",
    "BEGIN:VALARM",
    "STATUS:of the alarm",
    "TRIGGER:-PT15M",
    "END:VALARM",
  ];
  const before = todo("DUE;VALUE=DATE:20260601", ...others);

  const done = await change(before, { status: "completed" });
  const open = await change(done.changed, { status: "needs-action" });

  assert.deepEqual(
    [done.task.status, done.task.completedAt, done.line("PERCENT-COMPLETE")],
    ["completed", "2026-05-01T12:00:00.000Z", "PERCENT-COMPLETE:100"],
  );
  assert.deepEqual([open.task.status, open.task.completedAt], ["needs-action", null]);
  assert.equal(open.line("PERCENT-COMPLETE"), undefined);
  const own = /^(?:STATUS:(?!of)|DTSTAMP|LAST-MODIFIED|SEQUENCE|COMPLETED|PERCENT).*\r\n/gm;
  for (const { changed } of [done, open]) {
    assert.equal(changed.toString().replaceAll(own, ""), before.toString());
  }
});

test("a due time moves a start that is the same, and keeps its zone", async () => {
  const zoned = todo(
    "DTSTART;TZID=Europe/Berlin:20260601T090000",
    "DUE;TZID=Europe/Berlin:20260601T090000",
  );

  const { line } = await change(zoned, { due: { dateTime: "2026-06-02T08:00:00Z" } });
  const without = await change(zoned, { due: null });

  assert.equal(line("DUE"), "DUE;TZID=Europe/Berlin:20260602T100000");
  assert.equal(line("DTSTART;TZID"), "DTSTART;TZID=Europe/Berlin:20260602T100000");
  assert.deepEqual([without.line("DUE"), without.line("DTSTART")], [undefined, undefined]);
});

test("a time without a zone is on the clock of the home, also for a task that had a date", async () => {
  const { line } = await change(todo("DUE;VALUE=DATE:20260601"), {
    due: { dateTime: "2026-06-02T08:00:00Z" },
  });

  assert.equal(line("DUE"), "DUE;TZID=Europe/Berlin:20260602T100000");
});

test("a due time before the start, or of another kind, is refused with the field", async () => {
  const begun = todo("DTSTART;VALUE=DATE:20260601", "DURATION:P2D");

  const { line } = await change(begun, { due: { date: "2026-06-03" } });
  assert.deepEqual([line("DUE"), line("DURATION")], ["DUE;VALUE=DATE:20260603", undefined]);
  for (const due of [{ date: "2026-05-31" }, { dateTime: "2026-06-03T08:00:00Z" }]) {
    const isField = ({ extras }: { extras: { errors?: readonly { pointer: string }[] } }) =>
      extras.errors?.[0]?.pointer === "/due";
    await assert.rejects(changedTask(begun, { due }, CONTEXT), isField);
  }
});

for (const [about, lines, expected] of [
  ["a date of completion", ["COMPLETED:20260501T100000Z"], { status: "completed" }],
  ["100 percent", ["PERCENT-COMPLETE:100"], { status: "completed" }],
  ["work on it", ["STATUS:In-Process"], { status: "in-process" }],
  ["no priority", ["PRIORITY:0"], { priority: null }],
  ["a due date that cannot be read", ["DUE:soon"], { due: null, title: "Milk" }],
  ["a rule", ["RRULE:FREQ=DAILY"], { repeats: true }],
] as const) {
  test(`a task with ${about} is understood`, async () => {
    const task = await read(todo(...lines));

    assert.deepEqual({ ...task, ...expected }, task);
  });
}

test("an object without a task has none", async () => {
  assert.equal(await readTask(calendar("X-BEGIN:VTODO"), BERLIN), undefined);
});

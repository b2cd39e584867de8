import assert from "node:assert/strict";
import { test } from "node:test";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import { Source } from "../../../plugins/calendar/source.ts";

const CALENDAR = "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n";
const NOW = new Date("2026-03-01T12:00:00Z");

test("a refused calendar does not count towards the limits of the others", async () => {
  const open = (id: string) => new Source({ id, fallbackName: id, floating: UTC });
  const [wrong, right] = [open("wrong"), open("right")];

  await assert.rejects(wrong.read([Buffer.alloc(29_000_000, "x")], NOW), { code: "invalid" });
  await right.read([Buffer.from(CALENDAR.padEnd(2_000_000, "\r\n"))], NOW);

  assert.equal(right.view().status, "ok");
  // Sources of other files of this process may be held as well.
  await assert.rejects(
    wrong.read([Buffer.alloc(29_000_000, "x")], NOW),
    /beside the ([2-9]|1\d) MB/,
  );
  for (const source of [wrong, right]) source.close();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarWindow } from "@mantel/plugin-sdk";
import { Agenda } from "../../../plugins/calendar/agenda.ts";
import { Source } from "../../../plugins/calendar/source.ts";
import { findZone, UTC } from "../../../plugins/calendar/zones.ts";
import { until } from "../../helpers/until.ts";
import { calendar, event } from "./calendar-text.ts";

const BERLIN = findZone("Europe/Berlin") ?? UTC;

/** An agenda whose clock the test moves, and what it has published. */
function setUp(now: string) {
  const clock = { now: Date.parse(now) };
  const published: CalendarWindow[] = [];
  const agenda = new Agenda({
    zone: BERLIN,
    now: () => clock.now,
    publish: async (window) => void published.push(window),
    onFault: assert.ifError,
  });
  return { clock, published, agenda };
}

test("the window is from 31 days before today to 366 days after it, in days of the house", async () => {
  const { agenda, published } = setUp("2026-11-19T23:30:00Z");

  await agenda.publish();

  // it is November 20 in Berlin
  assert.deepEqual(published, [
    { start: "2026-10-19T22:00:00.000Z", end: "2027-11-21T23:00:00.000Z", events: [], sources: [] },
  ]);
});

test("changes that come together are published once", async (t) => {
  const { agenda, published } = setUp("2026-11-20T12:00:00Z");
  t.after(agenda.watchDays());
  const source = new Source({ id: "a", fallbackName: "a", floating: BERLIN });
  agenda.add(source);

  for (let change = 0; change < 10; change++) {
    await source.read(calendar(event(`UID:${change}`, "DTSTART:20261121T090000Z")), new Date());
    agenda.changed();
  }
  await until(() => published.length > 0);

  assert.deepEqual(
    published.map(({ events }) => events.map(({ uid }) => uid)),
    [["9"]],
  );
});

test("a new day moves the window, and the rest of the day does not", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { agenda, published, clock } = setUp("2026-11-20T12:00:00Z");
  t.after(agenda.watchDays());
  await agenda.publish();

  clock.now = Date.parse("2026-11-20T22:59:00Z");
  t.mock.timers.tick(60_000);
  clock.now = Date.parse("2026-11-20T23:00:00Z");
  t.mock.timers.tick(60_000);
  await until(() => published.length > 1);

  assert.deepEqual(
    published.map(({ start }) => start.slice(0, 10)),
    ["2026-10-19", "2026-10-20"],
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarWindow } from "@mantel/plugin-sdk";
import { Agenda } from "../../../plugins/calendar/agenda.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { Source } from "../../../plugins/calendar/source.ts";
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

test("the window is from 31 days before today to 366 days after it, in the home's time zone", async () => {
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
  t.after(() => source.close());
  agenda.add(source);

  await source.read([calendar(event("UID:a", "DTSTART:20261121T090000Z"))], new Date());

  for (let change = 0; change < 10; change++) agenda.changed();
  await until(() => published.length > 0);

  assert.deepEqual(
    published.map(({ events }) => events.map(({ uid }) => uid)),
    [["a"]],
  );
});

test("a slow calendar does not delay others and is published when it is read", async (t) => {
  const { agenda, published } = setUp("2026-11-20T12:00:00Z");
  t.after(agenda.watchDays());
  const good = new Source({ id: "good", fallbackName: "good", floating: BERLIN });
  const slow = new Source({ id: "slow", fallbackName: "slow", floating: BERLIN });
  for (const each of [good, slow]) t.after(() => each.close());
  const content = calendar(event("UID:a", "DTSTART:20261121T090000Z"));
  await good.read([content], new Date());
  await slow.read([content], new Date());
  let release = () => undefined as void;
  const held = new Promise<void>((resolve) => (release = resolve));
  const prepare = slow.prepare.bind(slow);
  t.mock.method(slow, "prepare", async (span: { from: number; to: number }) => {
    await held;
    return prepare(span);
  });
  agenda.add(slow);
  agenda.add(good);

  await agenda.publish();
  release();
  await until(() => published.length > 1);

  assert.deepEqual(
    published.map(({ events, sources }) => [
      events.map(({ calendarId }) => calendarId),
      sources.map(({ status }) => status),
    ]),
    [
      [["good"], ["error", "ok"]],
      [
        ["slow", "good"],
        ["ok", "ok"],
      ],
    ],
  );
});

test("a calendar that exceeds the total limit is omitted with a message", async (t) => {
  const { agenda, published } = setUp("2026-11-20T12:00:00Z");
  const many = (from: number, count: number) =>
    calendar(
      ...Array.from({ length: count }, (_, at) =>
        event(`UID:${from + at}`, "DTSTART:20261121T090000Z"),
      ),
    );
  const sizes = { large: 9_000, larger: 9_500, small: 2_000 };
  for (const [id, count] of Object.entries(sizes)) {
    const source = new Source({ id, fallbackName: id, floating: BERLIN });
    t.after(() => source.close());
    await source.read([many(0, count)], new Date());
    agenda.add(source);
  }

  t.after(agenda.watchDays());
  agenda.changed();
  await until(() => published.at(-1)?.events.length === 11_000, { withinMs: 30_000 });

  const window = published.at(-1);
  assert.deepEqual(
    window?.sources.map(({ id, status }) => `${id} ${status}`),
    ["large ok", "larger error", "small ok"],
  );
  assert.match(window?.sources[1]?.error ?? "", /9500 events do not fit/);
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

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { CalendarWindow } from "@mantel/plugin-sdk";
import { Agenda } from "../../../plugins/calendar/agenda.ts";
import { Content } from "../../../plugins/calendar/content.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { parseFile } from "../../../plugins/calendar/parsed-file.ts";
import type { Clocks } from "../../../plugins/calendar/patience.ts";
import { Source } from "../../../plugins/calendar/source.ts";
import { until } from "../../helpers/until.ts";
import { calendar, event } from "./calendar-text.ts";

const NOW = new Date("2026-11-20T12:00:00Z");
const BERLIN = findZone("Europe/Berlin") ?? UTC;

/** Clocks on which work is late after some turns of the event loop. */
const IMPATIENT: Clocks = {
  cpu: () => 0,
  wall: (
    (now) => () =>
      (now += 100)
  )(0),
  sleep: () => new Promise((resolve) => setImmediate(resolve)),
};

/** An agenda whose clock the test moves, and what it has published. */
function setUp(now: string, clocks?: Clocks) {
  const clock = { now: Date.parse(now) };
  const published: CalendarWindow[] = [];
  const agenda = new Agenda({
    zone: BERLIN,
    now: () => clock.now,
    publish: async (window) => void published.push(window),
    onFault: assert.ifError,
    ...(clocks ? { clocks } : {}),
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
  const { agenda, published } = setUp("2026-11-20T12:00:00Z", IMPATIENT);
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
      sources.map(({ status, incomplete }) => `${status} ${incomplete}`),
    ]),
    [
      [["good"], ["error pending", "ok undefined"]],
      [
        ["slow", "good"],
        ["ok undefined", "ok undefined"],
      ],
    ],
  );
});

/** A source of which every second event is broken before 2028, and that the test can hold up. */
async function openSlow(t: TestContext) {
  const source = new Source({ id: "slow", fallbackName: "slow", floating: UTC });
  t.after(() => source.close());
  const good = event("UID:a", "DTSTART:20280601T090000Z");
  const text = calendar(good, event("UID:b", "DTSTART:20270601T090000Z", "EXDATE:x"));
  const content = await Content.of([await parseFile(text)], { floating: UTC });
  const work = { runs: 0, release: () => {} };
  const held = new Promise<void>((resolve) => (work.release = resolve));
  const expand = content.eventsIn.bind(content);
  t.mock.method(content, "eventsIn", async (...parts: Parameters<Content["eventsIn"]>) => {
    work.runs++;
    await held;
    return expand(...parts);
  });
  t.mock.method(Content, "of", async () => content);
  await source.read([text], NOW);
  return { source, work };
}

const yearOf = (year: number) => ({ from: Date.UTC(year, 0), to: Date.UTC(year + 1, 0) });

test("a window whose events are late says so, and the late result is there for the next request", async (t) => {
  const { agenda } = setUp("2026-11-20T12:00:00Z", IMPATIENT);
  const { source, work } = await openSlow(t);
  agenda.add(source);

  const early = await agenda.eventsIn(yearOf(2028));
  work.release();
  await source.eventsIn(yearOf(2028));
  const later = await agenda.eventsIn(yearOf(2028));

  assert.deepEqual([early.events.length, early.sources[0]?.incomplete], [0, "pending"]);
  assert.match(early.sources[0]?.error ?? "", /still being worked out/);
  assert.deepEqual([later.events.length, later.sources[0]?.incomplete], [1, undefined]);
  assert.equal(work.runs, 1);
});

test("the error of a source describes the window that was asked for", async (t) => {
  const { agenda, published } = setUp("2027-05-01T12:00:00Z");
  const { source, work } = await openSlow(t);
  work.release();
  agenda.add(source);

  await agenda.publish();

  assert.match(
    published[0]?.sources[0]?.error ?? "",
    /of 1 event only the first occurrence is shown/,
  );
  assert.equal((await agenda.eventsIn(yearOf(2030))).sources[0]?.error, undefined);
});

test("a source that became private does not ask for the events that were shown before", async (t) => {
  const { agenda, published } = setUp("2026-11-20T12:00:00Z");
  for (const id of ["new", "old"]) {
    const source = new Source({
      id,
      fallbackName: id,
      floating: UTC,
      settings: { private: true },
    });
    t.after(() => source.close());
    agenda.add(source);
  }
  agenda.wasPrivate(["old"]);

  await agenda.publish();

  assert.deepEqual(
    published[0]?.sources.map(({ id, incomplete }) => `${id} ${incomplete}`),
    ["new partial", "old pending"],
  );
});

test("a calendar that exceeds the total limit is omitted with a message", async (t) => {
  const { agenda, published } = setUp("2026-11-20T12:00:00Z");
  const hours = (count: number) =>
    calendar(event("UID:a", "DTSTART:20261020T090000Z", `RRULE:FREQ=HOURLY;COUNT=${count}`));
  const sizes = { large: 9_000, larger: 9_500, small: 2_000 };
  for (const [id, count] of Object.entries(sizes)) {
    const source = new Source({ id, fallbackName: id, floating: BERLIN });
    t.after(() => source.close());
    await source.read([hours(count)], new Date());
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

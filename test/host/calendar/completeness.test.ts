import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarEvent, CalendarSource, CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { Calendar } from "../../../host/calendar/calendar.ts";
import { CalendarFeed } from "../../../host/calendar/feed.ts";
import { Bus } from "../../../host/events/bus.ts";

const config = { current: { calendar: { defaultDays: 14 }, ui: { timeZone: "UTC" } } };
const DAY = new URLSearchParams("start=2026-06-02&end=2026-06-03");
const FAR = new URLSearchParams("start=2030-06-02&end=2030-06-03");

function eventOf(calendarId: string): CalendarEvent {
  return {
    id: `${calendarId}/a`,
    calendarId,
    uid: "a",
    recurrenceId: null,
    title: "zoo",
    start: { date: "2026-06-02" },
    end: { date: "2026-06-03" },
    allDay: true,
    status: "confirmed",
    busy: false,
    location: null,
    description: null,
    url: null,
    color: null,
  };
}

/** A window whose sources have one event each, unless they are in error. */
function windowOf(...sources: (Partial<CalendarSource> & { readonly id: string })[]) {
  const all = sources.map((each) => ({
    name: each.id,
    color: "#112233",
    status: "ok" as const,
    fetchedAt: "2026-06-01T00:00:00Z",
    ...each,
  }));
  const [start, end] = ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"];
  const events = all.filter(({ status }) => status !== "error").map(({ id }) => eventOf(id));
  return { start, end, events, sources: all } satisfies CalendarWindow;
}

const PENDING = { id: "work", status: "error", incomplete: "pending", fetchedAt: null } as const;

/** A calendar and its feed, to which windows are published. */
function setUp() {
  const calendar = new Calendar({
    bus: new Bus(),
    config,
    call: async (_, { start, end }) => ({ ...windowOf(PENDING), start, end }),
  });
  const feed = new CalendarFeed();
  const publish = (...sources: Parameters<typeof windowOf>) => {
    calendar.accept(windowOf(...sources), "calendar");
    feed.accept(calendar.published);
  };
  const read = async (query = DAY) => {
    const { events, sources, complete } = await calendar.events(query);
    return { ids: events.map(({ event }) => event.id), sources, complete };
  };
  const uids = async () => (await feed.current()).body.toString().match(/^UID:/gm)?.length ?? 0;
  return { publish, read, uids };
}

test("a calendar that is read again after a config change keeps its events, as stale, until it is ready", async () => {
  const { publish, read, uids } = setUp();
  publish({ id: "home" }, { id: "work" });

  publish({ id: "home" }, PENDING);
  publish({ id: "home" }, PENDING);
  const meanwhile = await read();

  assert.deepEqual(meanwhile.ids, ["home/a", "work/a"]);
  assert.equal(meanwhile.complete, false);
  const [, work] = meanwhile.sources;
  assert.deepEqual([work?.status, work?.fetchedAt], ["stale", "2026-06-01T00:00:00Z"]);
  assert.equal(await uids(), 2);

  publish({ id: "home" }, { id: "work" });
  assert.deepEqual([(await read()).complete, await uids()], [true, 2]);
});

test("a calendar that was removed or became private is not kept", async () => {
  const { publish, read } = setUp();
  publish({ id: "home" }, { id: "work" });

  publish({ id: "home" }, { ...PENDING, incomplete: "partial" });
  assert.deepEqual((await read()).ids, ["home/a"]);
  publish({ id: "home" });
  assert.deepEqual((await read()).ids, ["home/a"]);
});

test("the feed is refused while a calendar is read for the first time, or more events exist than are shown", async () => {
  const { publish, read, uids } = setUp();
  for (const incomplete of ["pending", "partial"] as const) {
    publish({ id: "home" }, { ...PENDING, incomplete });

    assert.equal((await read()).complete, false);
    await assert.rejects(uids(), { code: "service_unavailable", message: /work/ });
  }
});

test("a calendar that could never be read does not keep the feed from phones", async () => {
  const { publish, read, uids } = setUp();

  publish({ id: "home" }, { id: "work", status: "error", error: "wrong password" });

  assert.equal(await uids(), 1);
  assert.equal((await read()).complete, false);
});

test("a window whose events are late is not complete, and a chosen calendar is judged alone", async () => {
  const { publish, read } = setUp();
  publish({ id: "home" }, PENDING);

  assert.equal((await read(FAR)).complete, false);
  assert.equal((await read(new URLSearchParams(`${DAY.toString()}&calendar=home`))).complete, true);
});

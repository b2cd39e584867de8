import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarWindow } from "@mantel/plugin-sdk";
import { calendarEvents } from "@mantel/plugin-sdk";
import { CalendarWindow as WindowSchema } from "@mantel/plugin-sdk/calendar";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { faultsOf } from "../../../host/validate.ts";
import { Calendars } from "../../../plugins/home-assistant/calendars.ts";
import { eventsIn } from "../../../plugins/home-assistant/convert-events.ts";
import { until } from "../../helpers/until.ts";
import { startHome } from "./home.ts";

/** The example of Home Assistant's REST API documentation. */
const DOCUMENTED = [
  { summary: "Cinco de Mayo", start: { date: "2022-05-05" }, end: { date: "2022-05-06" } },
  {
    summary: "Birthday Party",
    start: { dateTime: "2022-05-06T20:00:00-07:00" },
    end: { dateTime: "2022-05-06T23:00:00-07:00" },
    description: "Don't forget to bring balloons",
    location: "Brian's House",
  },
];

test("events of the REST API are events of the calendar", () => {
  const [day, party, ...more] = eventsIn(DOCUMENTED, "calendar.family", "Europe/Berlin");

  assert.deepEqual(more, []);
  assert.deepEqual(
    [day?.title, day?.start, day?.allDay],
    ["Cinco de Mayo", { date: "2022-05-05" }, true],
  );
  assert.deepEqual(party?.start, {
    dateTime: "2022-05-06T20:00:00-07:00",
    timeZone: "Europe/Berlin",
  });
  assert.deepEqual([party?.location, party?.calendarId], ["Brian's House", "calendar.family"]);
});

test("each occurrence of a series has an id of its own, which stays", () => {
  const series = ["05", "12"].map((day) => ({
    summary: "Choir",
    uid: "choir",
    recurrence_id: `202606${day}`,
    start: { date: `2026-06-${day}` },
    end: { date: `2026-06-${Number(day) + 1}`.replace(/-(\d)$/, "-0$1") },
  }));
  const ids = () => eventsIn(series, "calendar.family", "UTC").map(({ id }) => id);

  assert.equal(new Set(ids()).size, 2);
  assert.deepEqual(ids(), ids());
  assert.equal(eventsIn([series[0], series[0]], "calendar.family", "UTC").length, 1);
});

test("events without a possible start and end are left out", () => {
  const start = { date: "2026-06-05" };
  const wrong = [
    null,
    "event",
    { summary: "no end", start },
    { summary: "mixed", start, end: { dateTime: "2026-06-06T00:00:00Z" } },
    { summary: "no day", start: { date: "2026-13-05" }, end: { date: "2026-13-06" } },
    {
      summary: "no zone",
      start: { dateTime: "2026-06-05T10:00:00" },
      end: { dateTime: "2026-06-05T11:00:00" },
    },
  ];

  assert.deepEqual(eventsIn(wrong, "calendar.x", "UTC"), []);
  assert.deepEqual(eventsIn({ message: "no list" }, "calendar.x", "UTC"), []);
});

test("the calendars of Home Assistant are published, and one that cannot be read is in error alone", async (t) => {
  const { fake, bridge } = await startHome(t);
  const today = new Date().toISOString().slice(0, 10);
  const event = {
    start: { dateTime: `${today}T10:00:00+00:00` },
    end: { dateTime: `${today}T11:00:00+00:00` },
  };
  fake.calendars.set("calendar.family", [{ summary: "Dentist", uid: "1", ...event }]);
  fake.calendars.set("calendar.broken", undefined);
  fake.set("calendar.broken", "off", { friendly_name: "Broken" });

  const window = await until(() => {
    const published = bridge.published["calendar.window"];
    return published && published.events.length > 0 && published.sources.length === 2 && published;
  });

  assert.deepEqual(faultsOf(WindowSchema, window), []);
  const broken = window.sources.find(({ id }) => id === "calendar.broken");
  const family = window.sources.find(({ id }) => id === "calendar.family");
  assert.deepEqual(
    [broken?.name, broken?.status, family?.status, family?.error],
    ["Broken", "error", "ok", undefined],
  );
  assert.match(
    broken?.error ?? "",
    /could not read the events of calendar\.broken: .* it answers 500/,
  );
  assert.deepEqual(
    window.events.map(({ title, calendarId }) => `${calendarId} ${title}`),
    ["calendar.family Dentist"],
  );

  const day = { start: `${today}T00:00:00.000Z`, end: `${today}T23:59:59.000Z` };
  const asked = await bridge.call(calendarEvents, day);
  assert.deepEqual(
    asked.events.map(({ title }) => title),
    ["Dentist"],
  );
  assert.deepEqual([asked.start, asked.end], [day.start, day.end]);

  await fake.kill();
  const away = await until(() => {
    const published = bridge.published["calendar.window"];
    return published?.sources.every(({ status }) => status !== "ok") && published;
  });
  assert.deepEqual(away.sources.map(({ id, status }) => `${id} ${status}`).toSorted(), [
    "calendar.broken error",
    "calendar.family stale",
  ]);
  assert.equal(away.events.length, 1);
});

test("events are read for a month back and a year ahead, again after a change and every 15 minutes", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const published: CalendarWindow[] = [];
  const read: string[] = [];
  let list = [{ id: "calendar.a", name: "A" }];
  let answer = () => Promise.resolve(DOCUMENTED as unknown);
  const calendars = new Calendars({
    timeZone: "UTC",
    list: () => list,
    read: (id, { start, end }) => {
      read.push(`${id} ${start.toISOString()} ${end.toISOString()}`);
      return answer();
    },
    publish: async (window) => void published.push(window),
    onFault: (error) => assert.fail(String(error)),
    now: () => Date.parse("2026-06-15T13:00:00Z"),
  });
  t.after(() => calendars.close());
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  calendars.changed();
  calendars.changed();
  t.mock.timers.tick(2_000);
  await settled();
  assert.deepEqual(read, ["calendar.a 2026-05-15T00:00:00.000Z 2027-06-17T00:00:00.000Z"]);
  assert.equal(published.at(-1)?.sources[0]?.status, "ok");

  answer = () => Promise.reject(new MantelError("bridge_down", "it is away"));
  t.mock.timers.tick(15 * 60_000);
  await settled();
  assert.deepEqual([read.length, published.at(-1)?.sources[0]?.status], [2, "stale"]);
  assert.equal(published.at(-1)?.events.length, 2);

  list = [];
  calendars.changed();
  t.mock.timers.tick(2_000);
  await settled();
  assert.deepEqual([published.at(-1)?.sources, published.at(-1)?.events], [[], []]);
});

test("a Home Assistant without calendars publishes none", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const calendars = new Calendars({
    timeZone: "UTC",
    list: () => [],
    read: () => assert.fail("nothing to read"),
    publish: async () => assert.fail("nothing to publish"),
    onFault: (error) => assert.fail(String(error)),
  });
  t.after(() => calendars.close());

  calendars.changed();
  t.mock.timers.tick(2_000);
  calendars.away("it is away");
  await new Promise((resolve) => setImmediate(resolve));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: agenda } = await import("../../../plugins/agenda-widget/widget.ts");

const SOURCES = [
  { id: "family", name: "Family", color: "#aa0000", status: "ok" },
  { id: "work", name: "Work", color: "url(x)", status: "error" },
];
const EVENTS = [
  eventOf("Dentist", "2026-11-20T09:00:00Z", { location: "Mill Road" }),
  eventOf("Choir", "2026-11-20T18:00:00Z"),
  eventOf("Review", "2026-11-21T09:00:00Z", { calendarId: "work" }),
];
const answers = {
  "/calendar/events?": {
    window: { start: "2026-11-20T00:00:00Z", end: "2026-12-04T00:00:00Z" },
    events: EVENTS,
    sources: SOURCES,
  },
};

test("the agenda shows the next events by day, of all calendars or of those in its settings", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8, 30) });
  const { config, root, textOf, waitFor } = mountOnPage(t, agenda, { answers });
  const days = await waitFor("h2");
  const events = textOf(".event");

  config.value = { calendars: ["work"] };

  assert.deepEqual(days, ["Today 2 left", "Tomorrow"]);
  assert.deepEqual(events, [
    "09:00 Dentist Mill Road · in 30 min",
    "18:00 Choir Family",
    "09:00 Review Work",
  ]);
  assert.deepEqual(textOf("h2, .event"), ["Today nothing left", "Tomorrow", "09:00 Review Work"]);
  assert.deepEqual(textOf("[role=status]"), ["Could not read Work"]);
  assert.equal(root.querySelector(".event i")?.getAttribute("style"), "--color: #98cbff;");
});

test("a declined event is struck through", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8, 30) });
  const events = EVENTS.map((each, at) => (at === 1 ? { ...each, attendance: "declined" } : each));
  const { textOf, waitFor } = mountOnPage(t, agenda, {
    answers: { "/calendar/events?": { ...answers["/calendar/events?"], events } },
  });
  await waitFor(".event");

  assert.deepEqual(textOf(".event s"), ["Choir"]);
});

test("a later day has its own name in zones far ahead of UTC", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8, 30) });
  const start = { date: "2026-11-24" };
  const fair = { ...eventOf("Fair", "2026-11-24T09:00:00Z"), start, end: { date: "2026-11-25" } };
  const far = { "/calendar/events?": { window: {}, events: [fair], sources: SOURCES } };
  const { timeZone, textOf, waitFor } = mountOnPage(t, agenda, { answers: far });
  await waitFor(".event");

  timeZone.value = "Pacific/Auckland";

  assert.deepEqual(textOf("h2"), ["Today nothing left", "Tuesday 24 November"]);
});

test("a press on an event of a calendar that can be changed, or on +, opens its form", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8, 30) });
  const [family = {}, work = {}] = SOURCES;
  const sources = [{ ...family, writable: true }, work];
  const { root, waitFor } = mountOnPage(t, agenda, {
    answers: { "/calendar/events?": { window: {}, events: EVENTS, sources } },
  });
  await waitFor(".event");

  const opened = Array.from(root.querySelectorAll("button"), ({ dataset }) =>
    Object.fromEntries(Object.entries(dataset)),
  );
  assert.deepEqual(opened, [{ newEvent: "2026-11-20" }, { event: "Dentist" }, { event: "Choir" }]);
});

test("a home whose calendars are only read has no buttons", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8, 30) });
  const { root, waitFor } = mountOnPage(t, agenda, { answers });
  await waitFor(".event");

  assert.equal(root.querySelector("button"), null);
});

test("an event that is only read opens if it has a meeting", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8, 30) });
  const conference = "https://zoom.us/j/1";
  const events = EVENTS.map((each, at) => (at === 1 ? { ...each, conference } : each));
  const { root, waitFor } = mountOnPage(t, agenda, {
    answers: { "/calendar/events?": { window: {}, events, sources: SOURCES } },
  });
  await waitFor(".event");

  const opening = Array.from(root.querySelectorAll("button"), ({ dataset }) => dataset["event"]);
  assert.deepEqual(opening, ["Choir"]);
});

test("a home without a calendar says what to do", async (t) => {
  const empty = { window: {}, events: [], sources: [] };
  const { waitFor } = mountOnPage(t, agenda, { answers: { "/calendar/events?": empty } });

  assert.deepEqual(await waitFor("strong"), ["No calendar yet"]);
});

test("only the events that fit are drawn, at most as many as in the settings", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8, 30) });
  const { config, size, textOf, waitFor } = mountOnPage(t, agenda, {
    answers,
    size: { height: 210 },
  });
  await waitFor(".event");
  const low = textOf("b").length;

  size.value = { ...size.value, height: 500 };
  const tall = textOf("b").length;
  config.value = { events: 1 };

  assert.deepEqual([low, tall, textOf("b").length], [2, 3, 1]);
});

function eventOf(title: string, start: string, change: object = {}) {
  return {
    id: title,
    calendarId: "family",
    title,
    start: { dateTime: start, timeZone: "UTC" },
    end: { dateTime: start.replace(":00:00Z", ":45:00Z"), timeZone: "UTC" },
    status: "confirmed",
    location: null,
    color: null,
    ...change,
  };
}

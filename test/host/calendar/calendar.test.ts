import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarBound, CalendarEvent, CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { CalendarQuery } from "@mantel/plugin-sdk/services";
import { AnswerWriter } from "../../../host/calendar/answer.ts";
import { Calendar } from "../../../host/calendar/calendar.ts";
import { Bus } from "../../../host/events/bus.ts";

const config = { current: { calendar: { defaultDays: 14 }, ui: { timeZone: "Europe/Berlin" } } };

function makeEvent(id: string, start: CalendarBound, end: CalendarBound): CalendarEvent {
  return {
    id,
    calendarId: "home",
    uid: id,
    start,
    end,
    title: id,
    allDay: "date" in start,
    recurrenceId: null,
    status: "confirmed",
    busy: true,
    location: null,
    description: null,
    url: null,
    color: null,
  };
}

const timed = (id: string, start: string, end: string) =>
  makeEvent(id, { dateTime: start, timeZone: "UTC" }, { dateTime: end, timeZone: "UTC" });
const dated = (id: string, start: string, end: string) =>
  makeEvent(id, { date: start }, { date: end });

function makeWindow(events: CalendarEvent[], fetchedAt = "2026-11-20T00:00:00Z"): CalendarWindow {
  const source = { name: "x", color: "#112233", status: "ok", fetchedAt } as const;
  const sources = [
    { id: "home", ...source },
    { id: "club", ...source },
  ];
  return { start: "2026-01-01T00:00:00Z", end: "2027-01-01T00:00:00Z", events, sources };
}

/** A calendar that has `events`, what it asked its provider for, and how often it announced. */
function setUp(events: CalendarEvent[], provider: CalendarWindow = makeWindow([])) {
  const bus = new Bus();
  const asked: CalendarQuery[] = [];
  const announced: string[] = [];
  bus.on(({ topic }) => announced.push(topic));
  const call = async (_provider: string, query: CalendarQuery) => {
    asked.push(query);
    return provider;
  };
  const calendar = new Calendar({ bus, config, call });
  calendar.accept(makeWindow(events), "calendar");
  const ids = async (query: string) =>
    (await calendar.events(new URLSearchParams(query))).events.map(({ event }) => event.id);
  return { calendar, asked, announced, ids };
}

test("events that overlap the half-open window are returned in the order of their starts", async () => {
  const { ids, asked } = setUp([
    timed("late", "2026-06-02T20:00:00Z", "2026-06-02T22:30:00Z"),
    timed("after", "2026-06-02T22:00:00Z", "2026-06-02T23:00:00Z"),
    timed("before", "2026-06-01T20:00:00Z", "2026-06-01T22:00:00Z"),
    timed("into", "2026-06-01T20:00:00Z", "2026-06-01T22:00:01Z"),
    timed("moment", "2026-06-01T22:00:00Z", "2026-06-01T22:00:00Z"),
    dated("day", "2026-06-02", "2026-06-03"),
    dated("week", "2026-05-30", "2026-06-06"),
    dated("yesterday", "2026-06-01", "2026-06-02"),
  ]);

  assert.deepEqual(await ids("start=2026-06-02&end=2026-06-03"), [
    "week",
    "into",
    "day",
    "moment",
    "late",
  ]);
  assert.deepEqual(asked, []);
});

test("dates are days of the requested zone", async () => {
  const { ids } = setUp([dated("day", "2026-06-02", "2026-06-03")]);
  const hour = "start=2026-06-02T23:00:00Z&end=2026-06-03T00:00:00Z";

  assert.deepEqual(await ids(`${hour}&tz=Europe/Berlin`), []);
  assert.deepEqual(await ids(`${hour}&tz=America/New_York`), ["day"]);
});

test("answers are correct for events in the first and the last representable year", async () => {
  const { ids } = setUp([
    dated("ages", "0000-01-01", "9999-12-31"),
    timed("eons", "0001-01-01T07:52:58Z", "9999-12-31T23:59:59-08:00"),
  ]);

  for (const zone of ["UTC", "Europe/Berlin", "Pacific/Kiritimati", "America/Los_Angeles"]) {
    assert.deepEqual(await ids(`start=2026-06-02&end=2026-06-03&tz=${zone}`), ["ages", "eons"]);
  }
});

test("the answer contains its window, its zone and if more events exist", async () => {
  const events = ["a", "b", "c"].map((id) =>
    timed(id, "2026-06-02T10:00:00Z", "2026-06-02T11:00:00Z"),
  );
  const { calendar } = setUp(events);

  const answer = await calendar.events(
    new URLSearchParams("start=2026-06-02&end=2026-06-03&limit=2"),
  );

  assert.deepEqual(
    answer.events.map(({ event }) => event.id),
    ["a", "b"],
  );
  assert.equal(answer.truncated, true);
  assert.deepEqual(answer.window, {
    start: "2026-06-01T22:00:00.000Z",
    end: "2026-06-02T22:00:00.000Z",
    timeZone: "Europe/Berlin",
  });
});

test("requested calendars are returned with their sources, and an unknown one is refused", async () => {
  const at = ["2026-06-02T10:00:00Z", "2026-06-02T11:00:00Z"] as const;
  const { calendar } = setUp([timed("a", ...at), { ...timed("b", ...at), calendarId: "club" }]);
  const query = new URLSearchParams("start=2026-06-02&end=2026-06-03&calendar=club");

  const answer = await calendar.events(query);

  assert.deepEqual(
    answer.events.map(({ event }) => event.id),
    ["b"],
  );
  assert.deepEqual(
    answer.sources.map(({ id }) => id),
    ["club"],
  );
  await assert.rejects(calendar.events(new URLSearchParams("calendar=work")), {
    code: "invalid",
    message: /no calendar work; the calendars are home, club/,
  });
});

const DAY = new URLSearchParams("start=2026-06-02&end=2026-06-03");
const MORNING = ["2026-06-02T10:00:00Z", "2026-06-02T11:00:00Z"] as const;

test("an answer is written as JSON, without events, with one and with more", async () => {
  const events = ["a", "b", '„ü\u2028"\\'].map((id) => timed(id, ...MORNING));
  const writer = new AnswerWriter();
  for (let count = 0; count <= events.length; count++) {
    const { calendar } = setUp(events.slice(0, count));
    const answer = await calendar.events(DAY);

    const written = JSON.parse(writer.json(answer).toString()) as object;
    assert.deepEqual(written, { ...answer, events: events.slice(0, count) });
  }
});

test("an answer is complete after one with the same events and after one with changed events", async () => {
  const events = ["a", "b"].map((id) => timed(id, ...MORNING));
  const { calendar } = setUp(events);
  const writer = new AnswerWriter();
  const written = async (query = DAY) =>
    JSON.parse(writer.json(await calendar.events(query)).toString()) as CalendarWindow;
  const titles = async () => (await written()).events.map(({ title }) => title).join();

  assert.equal(await titles(), "a,b");
  const later = await written(new URLSearchParams("start=2026-06-01&end=2026-06-04"));
  assert.deepEqual(later, {
    events,
    sources: makeWindow([]).sources.map((each) => ({ ...each, changedAt: null })),
    truncated: false,
    complete: true,
    window: {
      start: "2026-05-31T22:00:00.000Z",
      end: "2026-06-03T22:00:00.000Z",
      timeZone: "Europe/Berlin",
    },
  });
  calendar.accept(
    makeWindow(events.map((each) => ({ ...each, title: `new ${each.title}` }))),
    "calendar",
  );
  assert.equal(await titles(), "new a,new b");
});

test("a change of one event does not process the others again", async () => {
  const [first, second] = [timed("a", ...MORNING), timed("b", ...MORNING)];
  const { calendar } = setUp([first, second]);
  const before = (await calendar.events(DAY)).events;

  calendar.accept(makeWindow([first, { ...second, title: "c" }]), "calendar");

  const after = (await calendar.events(DAY)).events;
  assert.equal(after[0], before[0]);
  assert.equal(after[1]?.event.title, "c");
});

test("a window beyond the published one is requested from the module", async () => {
  const far = makeWindow([timed("far", "2030-06-02T10:00:00Z", "2030-06-02T11:00:00Z")]);
  const { ids, asked } = setUp([], far);

  assert.deepEqual(await ids("start=2030-06-02T00:00:00Z&end=2030-06-03T00:00:00Z"), ["far"]);
  assert.deepEqual(asked, [{ start: "2030-06-02T00:00:00.000Z", end: "2030-06-03T00:00:00.000Z" }]);
});

test("an invalid answer of the module is not forwarded", async () => {
  const { ids } = setUp([], { ...makeWindow([]), events: [{ id: 1 }] } as never);

  await assert.rejects(ids("start=2030-06-02&end=2030-06-03"), { code: "service_unavailable" });
});

test("an event is sent only if something changed", () => {
  const event = timed("a", "2026-06-02T10:00:00Z", "2026-06-02T11:00:00Z");
  const { calendar, announced } = setUp([event]);
  assert.equal(announced.length, 1);

  calendar.accept(makeWindow([structuredClone(event)], "2026-11-20T01:00:00Z"), "calendar");
  assert.equal(announced.length, 1);
  calendar.accept(makeWindow([{ ...event, title: "b" }]), "calendar");
  assert.equal(announced.length, 2);
});

test("before anything is published, and after its module has gone, calendars are unavailable", async () => {
  const { calendar, ids, announced } = setUp([]);
  calendar.providerGone("calendar");

  await assert.rejects(ids(""), { code: "service_unavailable" });
  assert.equal(announced.length, 2);
});

/** A window of one source. */
function ofSource(id: string, events: readonly CalendarEvent[] = []): CalendarWindow {
  const { start, end, sources } = makeWindow([]);
  const [source] = sources;
  assert.ok(source);
  return {
    start,
    end,
    events: events.map((event) => ({ ...event, calendarId: id })),
    sources: [{ ...source, id }],
  };
}

/** A calendar with two providers, each of one source; a test decides how they answer. */
function setUpTwo() {
  const bus = new Bus();
  const answers = new Map<string, () => Promise<CalendarWindow>>();
  const asked: string[] = [];
  const call = (provider: string) => {
    asked.push(provider);
    return (
      answers.get(provider)?.() ?? Promise.reject(new MantelError("module_down", "it restarts"))
    );
  };
  const calendar = new Calendar({ bus, config, call });
  calendar.accept(ofSource("home", [timed("a", ...MORNING)]), "feeds");
  calendar.accept(ofSource("work", [timed("b", ...MORNING)]), "office");
  const read = async (query = "start=2026-06-02&end=2026-06-03") => {
    const { events, sources } = await calendar.events(new URLSearchParams(query));
    const shown = events.map(({ event }) => `${event.calendarId} ${event.id}`);
    return { shown, states: sources.map(({ id, status }) => `${id} ${status}`), sources };
  };
  return { bus, calendar, answers, asked, read };
}

test("the calendars of several providers are one list, and each can be chosen", async () => {
  const { asked, read } = setUpTwo();

  const both = await read();
  assert.deepEqual(both.shown, ["home a", "work b"]);
  assert.deepEqual(both.states, ["home ok", "work ok"]);
  assert.deepEqual((await read("start=2026-06-02&end=2026-06-03&calendar=work")).shown, ["work b"]);
  assert.deepEqual(asked, []);
});

const FAR = "start=2030-06-02T00:00:00Z&end=2030-06-03T00:00:00Z";
const far = (id: string) => timed(id, "2030-06-02T10:00:00Z", "2030-06-02T11:00:00Z");

test("a provider that does not answer marks only its own sources as failed", async () => {
  const { answers, read } = setUpTwo();
  answers.set("feeds", async () => ofSource("home", [far("c")]));

  const { shown, states, sources } = await read(FAR);

  assert.deepEqual(shown, ["home c"]);
  assert.deepEqual(states, ["home ok", "work error"]);
  assert.equal(sources[1]?.error, "it restarts");
});

test("a provider that does not answer is stale where its published window has events", async () => {
  const { calendar, answers, read } = setUpTwo();
  calendar.accept({ ...ofSource("work", [far("b")]), end: "2030-06-02T12:00:00Z" }, "office");
  answers.set("feeds", async () => ofSource("home", []));

  const { shown, states } = await read(FAR);

  assert.deepEqual([shown, states], [["work b"], ["home ok", "work stale"]]);
});

test("only the providers of the chosen calendars are asked", async () => {
  const { answers, asked, read } = setUpTwo();
  answers.set("office", async () => ofSource("work", [far("c")]));

  assert.deepEqual((await read(`${FAR}&calendar=work`)).shown, ["work c"]);
  assert.deepEqual(asked, ["office"]);
});

test("when a provider is removed, only its own calendars are removed", async () => {
  const { calendar, read } = setUpTwo();

  calendar.providerGone("feeds");
  assert.deepEqual((await read()).states, ["work ok"]);
  assert.deepEqual(
    calendar.published?.events.map(({ id }) => id),
    ["b"],
  );

  calendar.providerGone("office");
  assert.equal(calendar.published, undefined);
  await assert.rejects(read(), { code: "service_unavailable" });
});

test("of two calendars with the same id, that of the later module has the module in its id", async () => {
  const { calendar, answers, read } = setUpTwo();
  calendar.accept(ofSource("home", [timed("a", ...MORNING)]), "office");

  const both = await read();
  assert.deepEqual(both.shown.toSorted(), ["home a", "office/home office/home/a"]);
  assert.deepEqual(both.states, ["home ok", "office/home ok"]);

  answers.set("office", async () => ofSource("home", [far("c")]));
  assert.deepEqual((await read(`${FAR}&calendar=office/home`)).shown, [
    "office/home office/home/c",
  ]);
  calendar.providerGone("feeds");
  assert.deepEqual((await read()).shown, ["home a"]);
});

test("a change of one provider is announced with the sources of all, and an unchanged publish is not announced", () => {
  const { bus, calendar } = setUpTwo();
  const announced: unknown[] = [];
  bus.on(({ data }) => announced.push((data as CalendarWindow).sources.map(({ id }) => id)));

  calendar.accept(ofSource("work", [timed("b", ...MORNING)]), "office");
  calendar.accept(ofSource("work", [timed("c", ...MORNING)]), "office");

  assert.deepEqual(announced, [["home", "work"]]);
});

test("a change that names an unknown calendar is refused with its field and the calendars", () => {
  const { calendar } = setUpTwo();
  calendar.accept(ofSource("home", []), "office");

  assert.deepEqual(calendar.requestedPlace("office/home", "/calendarId"), {
    provider: "office",
    ownId: "home",
  });
  assert.throws(() => calendar.requestedPlace("nope", "/calendarId"), {
    code: "invalid",
    extras: {
      errors: [
        { pointer: "/calendarId", detail: "no calendar nope; the calendars are home, office/home" },
      ],
    },
  });
  calendar.providerGone("office");
  calendar.providerGone("feeds");
  assert.throws(() => calendar.requestedPlace("home", "/calendarId"), {
    code: "service_unavailable",
  });
});

test("a plugin that calls the service gets the events of all providers", async () => {
  const { calendar } = setUpTwo();

  const window = await calendar.window({
    start: "2026-06-02T00:00:00Z",
    end: "2026-06-03T00:00:00Z",
  });

  assert.deepEqual(
    window.events.map(({ id }) => id),
    ["a", "b"],
  );
  assert.deepEqual(
    window.sources.map(({ id }) => id),
    ["home", "work"],
  );
});

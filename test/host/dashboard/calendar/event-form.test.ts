import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signal } from "@preact/signals-core";
import { ApiError } from "../../../../host/dashboard/api.ts";
import { mountOnPage } from "../../../helpers/page/widget.ts";

const { default: agenda } = await import("../../../../plugins/agenda-widget/widget.ts");
const { followEventForms } =
  await import("../../../../host/dashboard/calendar/follow-event-forms.ts");

const SOURCES = [
  { id: "family", name: "Family", color: "#aa0000", status: "ok", writable: true },
  { id: "choir", name: "Choir", color: "#00aa00", status: "ok", writable: true },
  { id: "feed", name: "Feed", color: "#0000aa", status: "ok" },
];
const dentist = { ...eventOf("Dentist", "family"), conference: "https://zoom.us/j/1" };
const series = {
  ...eventOf("Choir", "choir"),
  recurrenceId: "2026-11-20T09:00:00Z",
  conference: "javascript:alert(1)",
};
const match = {
  ...eventOf("Match", "feed"),
  location: "Stadium",
  description: "One\ntwo",
  conference: "https://meet.google.com/abc-defg-hij",
};
const fair = {
  ...eventOf("Fair", "feed"),
  start: { date: "2026-11-20" },
  end: { date: "2026-11-22" },
  allDay: true,
};
const CHANGE = "/services/calendar.change";

async function openAgenda(t: TestContext) {
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 10, 20, 8, 30) });
  const events = [dentist, series, match, fair];
  const page = mountOnPage(t, agenda, {
    answers: {
      "/calendar/events?": { window: {}, events, sources: SOURCES },
      [CHANGE]: { event: dentist, etag: '"1"' },
    },
  });
  await page.waitFor(".event");
  const opening = document.createElement("div");
  opening.innerHTML = [
    '<button data-new-event="2026-11-20"></button>',
    ...events.map(({ id }) => `<button data-event="${id}"></button>`),
  ].join("");
  document.body.append(opening);
  const { api, said, timeZone, until } = page;
  const ended = new AbortController();
  t.after(() => {
    ended.abort();
    opening.remove();
    find(".event-form")?.remove();
  });
  const call = (service: { name: string }, input: unknown) =>
    api.post(`/services/${service.name}`, input);
  const announce = (text: string) => void said.push(text);
  followEventForms(
    {
      shared: { call: call as never, announce, timeZone },
      channel: () => signal<unknown>({ events, sources: SOURCES }),
    },
    { signal: ended.signal },
  );
  const textOf = (selector: string) => find(selector)?.textContent?.trim();
  return {
    api,
    said,
    until,
    textOf,
    field: (name: string) => get(`.event-form [name=${name}]`) as HTMLInputElement,
    add: async () => {
      get("[data-new-event]").click();
      await until(() => find(".event-form") !== null);
    },
    open: async (title: string) => {
      get(`[data-event$="/${title}"]`).click();
      await until(() => api.posted.length === 1);
      await until(() => find(".save:not([disabled])") !== null);
    },
    /** Opens an event that is only read. */
    show: async (title: string) => {
      get(`[data-event$="/${title}"]`).click();
      await until(() => find(".event-form") !== null);
    },
    click: (selector: string) => get(selector).click(),
    type: (name: string, value: string) => {
      const input = get(`.event-form [name=${name}]`) as HTMLInputElement;
      input.value = value;
      for (const type of ["input", "change"]) input.dispatchEvent(new Event(type));
    },
    submit: async () => {
      const count = api.posted.length;
      submitForm();
      await until(() => api.posted.length > count);
      return api.posted.at(-1);
    },
    isOpen: () => find(".event-form") !== null,
  };
}

const find = (selector: string) => document.querySelector<HTMLElement>(selector);

function get(selector: string): HTMLElement {
  const found = find(selector);
  if (!found) throw new Error(`nothing matches ${selector}`);
  return found;
}

function submitForm(): void {
  get(".event-form form").dispatchEvent(new Event("submit", { cancelable: true }));
}

test("an event is created in words, in the chosen calendar", async (t) => {
  const { add, type, submit, until, isOpen, said } = await openAgenda(t);
  await add();

  type("words", "Tomorrow 9 dentist");
  type("calendarId", "choir");
  const sent = await submit();
  await until(() => !isOpen());

  assert.deepEqual(sent, { action: "create", calendarId: "choir", text: "Tomorrow 9 dentist" });
  assert.deepEqual(said, ["The event is saved"]);
});

test("an event is created by its fields, which begin with the words", async (t) => {
  const { add, click, type, submit } = await openAgenda(t);
  await add();
  type("words", "Party");
  click(".more");

  click("[name=allDay]");
  type("start", "2026-11-24");
  const sent = await submit();

  assert.deepEqual(sent, {
    action: "create",
    calendarId: "family",
    fields: { title: "Party", start: { date: "2026-11-24" }, end: { date: "2026-11-25" } },
  });
});

test("the form of an event has a link to its meeting, with the host that it leads to", async (t) => {
  const { open, textOf } = await openAgenda(t);
  await open("Dentist");

  assert.equal(get(".event-form .conference").getAttribute("href"), "https://zoom.us/j/1");
  assert.match(textOf(".event-form .conference") ?? "", /^Join the meeting\s+zoom\.us$/);
});

test("an event without a meeting, or with an unsafe address, has no such link", async (t) => {
  const { open } = await openAgenda(t);
  await open("Choir");

  assert.equal(find(".event-form .conference"), null);
});

test("an event that is only read is shown with its time, place, meeting and description", async (t) => {
  const { api, show, textOf, click, isOpen } = await openAgenda(t);
  await show("Match");

  assert.equal(textOf(".event-form h2"), "Match");
  assert.match(textOf(".event-form .when") ?? "", /20 November 2026.*09:00.*10:00/);
  assert.match(textOf(".event-form") ?? "", /Stadium/);
  assert.equal(textOf(".event-form .description"), "One\ntwo");
  assert.equal(get(".event-form .conference").getAttribute("href"), match.conference);
  assert.deepEqual([find(".event-form .save"), api.posted], [null, []]);
  click(".event-form .close");
  assert.equal(isOpen(), false);
});

test("an event of whole days is shown until its last day", async (t) => {
  const { show, textOf } = await openAgenda(t);
  await show("Fair");

  assert.match(textOf(".event-form .when") ?? "", /20.*21 November 2026$/);
  assert.equal(find(".event-form .description"), null);
});

test("an event is changed, moved to another calendar, and nothing else of it is sent", async (t) => {
  const { open, type, submit } = await openAgenda(t);
  await open("Dentist");

  type("title", "Doctor");
  type("calendarId", "choir");
  const sent = await submit();

  assert.deepEqual(sent, {
    action: "update",
    calendarId: "family",
    event: "Dentist",
    scope: "this",
    ifMatch: '"1"',
    fields: { title: "Doctor" },
    moveTo: "choir",
  });
  assert.equal(find("[name=scope]"), null);
});

test("of an event that repeats the chosen ones are deleted", async (t) => {
  const { open, click, api, until } = await openAgenda(t);
  await open("Choir");

  click("[name=scope][value=following]");
  click(".delete");
  await until(() => api.posted.length === 2);

  assert.deepEqual(api.posted[1], {
    action: "remove",
    calendarId: "choir",
    event: "Choir",
    scope: "following",
    ifMatch: '"1"',
  });
});

test("a change that another user made meanwhile is reported, and the new version can be shown", async (t) => {
  const { open, type, submit, api, click, textOf, until, field } = await openAgenda(t);
  await open("Dentist");
  type("title", "Doctor");
  api.answers[CHANGE] = new ApiError(412, { code: "revision_stale", detail: "it has changed" });
  await submit();
  await until(() => find("[role=alert]") !== null);
  const told = textOf("[role=alert]");

  api.answers[CHANGE] = { event: { ...dentist, title: "Surgery" }, etag: '"2"' };
  click(".again");
  await until(() => field("title").value === "Surgery");
  api.answers[CHANGE] = { event: dentist, etag: '"3"' };
  type("title", "Hospital");
  const sent = (await submit()) as { ifMatch: string };

  assert.equal(told, "Somebody has changed this event meanwhile.");
  assert.equal(sent.ifMatch, '"2"');
});

test("the reason why a change failed is shown, and the form stays", async (t) => {
  const { add, type, submit, api, textOf, until, isOpen } = await openAgenda(t);
  await add();
  type("words", "what");
  api.answers[CHANGE] = new ApiError(422, { code: "invalid", detail: "no time in these words" });

  await submit();

  await until(() => find("[role=alert]") !== null);
  assert.equal(textOf("[role=alert]"), "no time in these words");
  assert.equal(isOpen(), true);
});

test("an end before the start is not sent", async (t) => {
  const { add, click, type, api, textOf } = await openAgenda(t);
  await add();
  click(".more");
  type("end", "2026-11-20T08:00");

  submitForm();

  assert.equal(textOf("[role=alert]"), "The end is before the start.");
  assert.deepEqual(api.posted, []);
});

function eventOf(title: string, calendarId: string) {
  return {
    id: `${calendarId}/${title}`,
    calendarId,
    uid: title,
    recurrenceId: null,
    title,
    start: { dateTime: "2026-11-20T09:00:00Z", timeZone: "UTC" },
    end: { dateTime: "2026-11-20T10:00:00Z", timeZone: "UTC" },
    allDay: false,
    status: "confirmed",
    busy: true,
    location: null,
    description: null,
    url: null,
    color: null,
  };
}

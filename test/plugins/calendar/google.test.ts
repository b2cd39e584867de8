import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { failure, type FakeGoogle, startGoogle } from "../../fakes/google-calendar.ts";
import { openGoogleAccount } from "./open-google-account.ts";

const MAIL = "ann@example.org";
const at = (dateTime: string) => ({ dateTime, timeZone: "Europe/Berlin" });
const CHOIR = {
  id: "choir1",
  summary: "choir",
  start: at("2026-06-01T09:00:00+02:00"),
  end: at("2026-06-01T10:00:00+02:00"),
  recurrence: ["RRULE:FREQ=WEEKLY;COUNT=4"],
};
const DENTIST = {
  id: "dentist1",
  summary: "dentist",
  start: at("2026-06-03T14:00:00+02:00"),
  end: at("2026-06-03T15:00:00+02:00"),
};

/** An account with the calendar Home of Ann, with a series and an event, and one of others that she only reads. */
async function setUp(t: TestContext) {
  const google = await startGoogle(t);
  google.addCalendar(MAIL, { summary: "Home", primary: true, backgroundColor: "#9fe1e7" });
  google.addCalendar("holidays@group", { summary: "Holidays", accessRole: "reader" });
  google.put(MAIL, CHOIR);
  google.put(MAIL, DENTIST);
  const opened = await openGoogleAccount(t, google);
  await opened.account.refresh();
  return { google, ...opened };
}

function callsOf(google: FakeGoogle): string[] {
  return google.requests.map(
    ({ method, path }) => `${method} ${path.replace(/^\/calendar\/v3/, "")}`,
  );
}

test("each calendar of a Google account is a source, and only its own ones can be changed", async (t) => {
  const { sources, titles } = await setUp(t);

  const shown = [...sources.values()].map(({ state }) => [
    state.id,
    state.name,
    state.writable,
    state.error,
  ]);
  assert.deepEqual(shown, [
    ["cloud-home", "Home", true, undefined],
    ["cloud-holidays", "Holidays", undefined, undefined],
  ]);
  assert.deepEqual(await titles(), ["choir", "choir", "choir", "choir", "dentist"]);
});

test("an event shows its zone, days, colour, meeting, own answer, free time and reminders", async (t) => {
  const { google, account, events } = await setUp(t);
  google.put(MAIL, {
    id: "party1",
    summary: "party",
    description: "<b>bring</b> cake",
    location: "Garden",
    colorId: "11",
    start: { dateTime: "2026-06-05T18:00:00Z", timeZone: "America/New_York" },
    end: { dateTime: "2026-06-05T20:00:00Z", timeZone: "America/New_York" },
    transparency: "transparent",
    status: "tentative",
    hangoutLink: "https://meet.google.com/abc-defg-hij",
    attendees: [{ email: MAIL, self: true, responseStatus: "tentative" }],
    reminders: { useDefault: false, overrides: [{ method: "popup", minutes: 30 }] },
  });
  google.put(MAIL, {
    id: "trip1",
    summary: "trip",
    start: { date: "2026-06-06" },
    end: { date: "2026-06-08" },
  });

  await account.refresh();

  const all = await events("cloud-home");
  const party = all.find(({ title }) => title === "party");
  assert.deepEqual(party?.start, {
    dateTime: "2026-06-05T14:00:00-04:00",
    timeZone: "America/New_York",
  });
  assert.equal(party.description, "bring cake");
  assert.equal(party.location, "Garden");
  assert.equal(party.color, "#d50000");
  assert.equal(party.conference, "https://meet.google.com/abc-defg-hij");
  assert.equal(party.attendance, "tentative");
  assert.equal(party.busy, false);
  assert.equal(party.status, "tentative");
  assert.deepEqual(party.reminders, [{ offsetMs: -1_800_000 }]);
  const trip = all.find(({ title }) => title === "trip");
  assert.deepEqual([trip?.start, trip?.end], [{ date: "2026-06-06" }, { date: "2026-06-08" }]);
});

test("a second look asks only for changes, page by page", async (t) => {
  const { google, account, titles } = await setUp(t);
  google.pageSize = 2;
  for (const number of [1, 2, 3]) {
    google.put(MAIL, { ...DENTIST, id: `more${number}`, summary: `more ${number}` });
  }
  google.remove(MAIL, "dentist1");
  google.requests.length = 0;

  await account.refresh();

  assert.deepEqual(await titles(), [
    "choir",
    "choir",
    "choir",
    "choir",
    "more 1",
    "more 2",
    "more 3",
  ]);
  const lists = google.requests.filter(
    ({ path }) => path.endsWith("events") && path.includes("ann"),
  );
  assert.deepEqual(
    lists.map(({ query }) => [query["syncToken"] !== undefined, query["pageToken"]]),
    [
      [true, undefined],
      [true, "2"],
    ],
  );
});

test("changed and removed occurrences of a series are shown, also those that come later", async (t) => {
  const { google, account, events } = await setUp(t);
  google.put(MAIL, {
    ...CHOIR,
    id: "choir1_20260608T070000Z",
    iCalUID: "choir1@google.com",
    recurrence: undefined,
    recurringEventId: "choir1",
    originalStartTime: at("2026-06-08T09:00:00+02:00"),
    summary: "choir in town",
    start: at("2026-06-08T11:00:00+02:00"),
    end: at("2026-06-08T12:00:00+02:00"),
  });
  google.put(MAIL, {
    id: "choir1_20260615T070000Z",
    iCalUID: "choir1@google.com",
    status: "cancelled",
    recurringEventId: "choir1",
    originalStartTime: at("2026-06-15T09:00:00+02:00"),
  });

  await account.refresh();

  const shown = (await events("cloud-home")).map(({ title, start }) => [
    title,
    "dateTime" in start ? start.dateTime : start.date,
  ]);
  assert.deepEqual(shown.map(String).toSorted(), [
    "choir in town,2026-06-08T11:00:00+02:00",
    "choir,2026-06-01T09:00:00+02:00",
    "choir,2026-06-22T09:00:00+02:00",
    "dentist,2026-06-03T14:00:00+02:00",
  ]);
});

test("an invitation to one occurrence of a series that is not in the calendar is shown", async (t) => {
  const { google, account, titles } = await setUp(t);
  google.put(MAIL, {
    ...DENTIST,
    id: "other1_20260610T070000Z",
    recurringEventId: "other1",
    originalStartTime: at("2026-06-10T09:00:00+02:00"),
    summary: "guest",
  });

  await account.refresh();

  assert.ok((await titles()).includes("guest"));
});

test("a sync token that the service has forgotten (410) has everything read again", async (t) => {
  const { google, account, sources, titles } = await setUp(t);
  google.remove(MAIL, "dentist1");
  google.put(MAIL, { ...DENTIST, id: "new12", summary: "new" });
  google.forgottenBefore = google.version;

  await account.refresh();

  assert.deepEqual(await titles(), ["choir", "choir", "choir", "choir", "new"]);
  assert.equal(sources.get("cloud-home")?.state.error, undefined);
});

test("an access token that has ended is renewed once, and the request is sent again", async (t) => {
  const { google, account, sources } = await setUp(t);
  google.oauth.endAccess();
  google.oauth.grants.length = 0;

  await account.refresh();

  assert.equal(google.oauth.grants.length, 1);
  assert.equal(sources.get("cloud-home")?.state.error, undefined);
});

test("a revoked permission is told as such, and the events of before stay, marked as stale", async (t) => {
  const { google, account, sources, titles, log } = await setUp(t);
  google.oauth.revoke();

  await account.refresh();
  await account.refresh();

  const state = sources.get("cloud-home")?.state;
  assert.equal(
    state?.error,
    "the provider has ended this sign-in: add the calendars again under Settings, Calendars",
  );
  assert.equal(state.status, "stale");
  assert.equal((await titles()).length, 5);
  const told = JSON.stringify(log.records);
  assert.ok(!told.includes("lasting"), told);
});

for (const [what, reply] of [
  ["429 with Retry-After", { status: 429, headers: { "retry-after": "120" }, body: {} }],
  ["403 rateLimitExceeded", failure(403, "rateLimitExceeded")],
  ["403 userRateLimitExceeded", failure(403, "userRateLimitExceeded")],
] as const) {
  test(`a service that is asked too often (${what}) keeps what is shown`, async (t) => {
    const { google, account, sources, titles } = await setUp(t);
    google.intervene = () => reply;

    await account.refresh();

    assert.match(sources.get("cloud-home")?.state.error ?? "", /asked too often/);
    assert.equal((await titles()).length, 5);
  });
}

test("an event is created, changed and removed, and each request names the version that it changes", async (t) => {
  const { google, writer, events } = await setUp(t);
  google.requests.length = 0;

  const { event } = await writer.change({
    action: "create",
    calendarId: "cloud-home",
    fields: {
      title: "swim",
      start: { dateTime: "2026-06-04T18:00:00+02:00" },
      location: "pool",
      url: "https://pool.example/",
      busy: false,
    },
  });
  const key = event?.id.slice("cloud-home/".length) ?? "";
  const moved = await writer.change({
    action: "update",
    calendarId: "cloud-home",
    event: key,
    scope: "this",
    fields: { title: "swim long", start: { date: "2026-06-05" }, location: null },
  });
  const [stored] = google.events(MAIL).filter(({ summary }) => summary === "swim long");

  assert.deepEqual(stored?.["start"], { date: "2026-06-05" });
  assert.equal(stored["location"], undefined);
  assert.equal(stored["transparency"], "transparent");
  assert.deepEqual(stored["source"], { title: "pool.example", url: "https://pool.example/" });
  assert.equal(moved.event?.title, "swim long");
  const shown = (await events()).find(({ title }) => title === "swim long");
  assert.equal(shown?.id, moved.event.id);

  await writer.change({
    action: "remove",
    calendarId: "cloud-home",
    event: moved.event.id.slice("cloud-home/".length),
    scope: "this",
  });
  assert.ok(!(await events()).some(({ title }) => title.startsWith("swim")));
  const writes = google.requests.filter(({ method }) => method !== "GET");
  assert.deepEqual(
    writes.map(({ method, headers }) => [method, headers["if-match"] !== undefined]),
    [
      ["POST", false],
      ["PATCH", true],
      ["DELETE", true],
    ],
  );
});

const FIRST = "choir1@google.com/2026-06-01T07:00:00Z";
const SECOND = "choir1@google.com/2026-06-08T07:00:00Z";

test("one occurrence is changed, and another one removed, without the series being written", async (t) => {
  const { google, writer, events } = await setUp(t);

  await writer.change({
    action: "update",
    calendarId: "cloud-home",
    event: SECOND,
    scope: "this",
    fields: { title: "choir late", start: { dateTime: "2026-06-08T20:00:00+02:00" } },
  });
  await writer.change({
    action: "remove",
    calendarId: "cloud-home",
    event: "choir1@google.com/2026-06-15T07:00:00Z",
    scope: "this",
  });

  assert.deepEqual(google.event(MAIL, "choir1")?.["recurrence"], CHOIR.recurrence);
  const shown = (await events("cloud-home")).map(({ title }) => title).toSorted();
  assert.deepEqual(shown, ["choir", "choir", "choir late", "dentist"]);
  const writes = callsOf(google).filter((each) => !each.startsWith("GET"));
  const base = `/calendars/${encodeURIComponent(MAIL)}/events/choir1_`;
  assert.deepEqual(writes, [`PATCH ${base}20260608T070000Z`, `DELETE ${base}20260615T070000Z`]);
});

test("this and the following occurrences become a series of their own", async (t) => {
  const { google, writer, titles } = await setUp(t);

  await writer.change({
    action: "update",
    calendarId: "cloud-home",
    event: SECOND,
    scope: "following",
    fields: { title: "new choir" },
  });

  assert.deepEqual(await titles(), ["choir", "dentist", "new choir", "new choir", "new choir"]);
  assert.deepEqual(google.event(MAIL, "choir1")?.["recurrence"], [
    "RRULE:FREQ=WEEKLY;UNTIL=20260608T065959Z",
  ]);
});

test("all occurrences get a new title, and fields that others have set stay", async (t) => {
  const { google, account, writer, titles } = await setUp(t);
  google.put(MAIL, { ...CHOIR, guestsCanModify: true });
  await account.refresh();

  await writer.change({
    action: "update",
    calendarId: "cloud-home",
    event: FIRST,
    scope: "all",
    fields: { title: "singing", start: { dateTime: "2026-06-01T10:00:00+02:00" } },
  });

  assert.equal((await titles()).filter((each) => each === "singing").length, 4);
  assert.equal(google.event(MAIL, "choir1")?.["guestsCanModify"], true);
});

test("an event that has changed at the service meanwhile is not overwritten", async (t) => {
  const { google, writer } = await setUp(t);
  const key = "dentist1@google.com/2026-06-03T12:00:00Z";
  const { etag } = await writer.change({ action: "read", calendarId: "cloud-home", event: key });
  google.put(MAIL, { ...DENTIST, summary: "dentist at 3" });

  const change = writer.change({
    action: "update",
    calendarId: "cloud-home",
    event: key,
    scope: "this",
    ifMatch: etag ?? "",
    fields: { title: "mine" },
  });

  await assert.rejects(change, { code: "revision_stale" });
  assert.equal(google.event(MAIL, "dentist1")?.["summary"], "dentist at 3");
});

test("a token that ends within a change neither doubles nor loses it", async (t) => {
  const { google, writer, titles } = await setUp(t);
  google.intervene = ({ method }) => {
    if (method === "POST") google.intervene = () => undefined;
    if (method === "POST") google.oauth.endAccess();
    return undefined;
  };

  await writer.change({
    action: "create",
    calendarId: "cloud-home",
    fields: { title: "once", start: { date: "2026-06-09" } },
  });

  assert.equal((await titles()).filter((each) => each === "once").length, 1);
});

for (const method of ["POST", "PATCH", "DELETE"] as const) {
  test(`a lost answer to ${method} neither doubles nor loses the change`, async (t) => {
    const { google, writer, titles } = await setUp(t);
    let lost = 0;
    google.loses = (request) => request.method === method && lost++ === 0;
    const calendarId = "cloud-home";
    const event = "dentist1@google.com/2026-06-03T12:00:00Z";

    if (method === "POST") {
      const fields = { title: "once", start: { date: "2026-06-09" } };
      await writer.change({ action: "create", calendarId, fields });
    } else if (method === "PATCH") {
      const fields = { title: "once" };
      await writer.change({ action: "update", calendarId, event, scope: "this", fields });
    } else await writer.change({ action: "remove", calendarId, event, scope: "this" });

    const shown = await titles();
    assert.equal(lost, 1);
    assert.equal(shown.filter((each) => each === "once").length, method === "DELETE" ? 0 : 1);
    assert.equal(shown.includes("dentist"), method === "POST");
  });
}

test("a calendar that is only shared for reading is not written", async (t) => {
  const { writer } = await setUp(t);
  const fields = { title: "x", start: { date: "2026-06-09" } };

  const change = writer.change({ action: "create", calendarId: "cloud-holidays", fields });

  await assert.rejects(change, { code: "conflict", message: /if their owner permits it/ });
});

test("after a restart the stored events are shown, and only changes are asked for", async (t) => {
  const { google, storage } = await setUp(t);
  google.requests.length = 0;
  const again = await openGoogleAccount(t, google, storage);

  await again.account.restore();
  assert.equal((await again.titles()).length, 5);
  await again.account.refresh();

  const lists = google.requests.filter(({ path }) => path.endsWith("events"));
  assert.ok(lists.every(({ query }) => query["syncToken"] !== undefined));
});

test("an event that moves to another calendar and back has its times and title", async (t) => {
  const { google, account, writer, titles } = await setUp(t);
  google.addCalendar("work@group", { summary: "Work" });
  await account.refresh();
  const { event } = await writer.change({
    action: "create",
    calendarId: "cloud-home",
    fields: { title: "moves", start: { date: "2026-06-09" } },
  });
  const key = event?.id.slice("cloud-home/".length) ?? "";

  const move = { action: "update", event: key, scope: "all", fields: {} } as const;
  await writer.change({ ...move, calendarId: "cloud-home", moveTo: "cloud-work" });
  await writer.change({ ...move, calendarId: "cloud-work", moveTo: "cloud-home" });

  assert.equal((await titles()).filter((each) => each === "moves").length, 1);
  const left = google.events("work@group").filter(({ status }) => status !== "cancelled");
  assert.deepEqual(left, []);
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { CalendarEvent } from "@mantel/plugin-sdk";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import type { Source } from "../../../plugins/calendar/source.ts";
import { Account } from "../../../plugins/calendar/web/account.ts";
import { AccessTokens } from "../../../plugins/calendar/web/oauth.ts";
import { FakeGraph } from "../../fakes/graph.ts";
import { CLIENT_ID, serveProvider } from "../../fakes/oauth-provider.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";
import { openWriter } from "./open-writer.ts";

const ZONE = findZone("Europe/Berlin") ?? UTC;
const DAY_MS = 86_400_000;
/** Near enough to now to be read. */
const DAY = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);
const utc = (time: string, day = DAY) => ({
  dateTime: `${day}T${time}:00.0000000`,
  timeZone: "UTC",
});

const DENTIST = {
  id: "AAMk=/dentist",
  changeKey: "d1",
  type: "singleInstance",
  subject: "dentist",
  body: { contentType: "text", content: "bring the card" },
  start: utc("14:00"),
  end: utc("15:00"),
  showAs: "busy",
  originalStartTimeZone: "Pacific Standard Time",
  originalEndTimeZone: "Pacific Standard Time",
  attendees: "of others",
};
const STANDUP = {
  ...DENTIST,
  id: "standup.1",
  changeKey: "s1",
  type: "occurrence",
  seriesMasterId: "standup",
  subject: "standup",
};
const DENTIST_KEY = `AAMk=/dentist/${DAY}T14:00:00Z`;

/** A Microsoft account with the calendar Home, and one of others that cannot be changed. */
async function setUp(t: TestContext) {
  const home = { id: "AAMk=1", name: "Home", events: [DENTIST, STANDUP] as object[] };
  const team = { id: "AAMk=2", name: "Team", canEdit: false, events: [] };
  const graph = new FakeGraph([home as never, team]);
  const provider = await serveProvider(
    t,
    { scope: "Calendars.ReadWrite", rotates: true },
    (incoming, body) => graph.reply(incoming, body),
  );
  provider.refreshTokens.add("lasting");
  const log = collectedLog();
  const storage = createStorage(await emptyFolder(t), log);
  const { signal } = new AbortController();
  const oauth = {
    tokenUrl: `${provider.url}/token`,
    clientId: CLIENT_ID,
    refreshToken: "lasting",
  };
  const tokens = new AccessTokens({ oauth, allowPrivate: true, storage, log, signal });
  const sources = new Map<string, Source>();
  const account = new Account({
    account: { id: "ms", url: `${provider.url}/v1.0`, allowPrivate: true, tokens },
    kind: "microsoft",
    refreshMs: 900_000,
    storage,
    log,
    taken: new Set(),
    shared: { floating: ZONE, locale: "en" },
    add: (source) => sources.set(source.id, source),
    remove: (id) => sources.delete(id),
    changed: () => {},
    signal,
  });
  await account.refresh();
  const writing = {
    find: (id: string) => account.calendarOf(id),
    has: (id: string) => sources.has(id),
    publish: async () => {},
    zone: ZONE,
    pausesMs: [1, 2, 5],
  };
  const { writer } = openWriter(writing, storage);
  const span = { from: Date.now(), to: Date.now() + 60 * DAY_MS };
  const events = async (): Promise<readonly CalendarEvent[]> =>
    (await sources.get("ms-home")?.eventsIn(span))?.events ?? [];
  const stored = (subject: string) =>
    home.events.filter((each) => (each as { subject?: string }).subject === subject) as Record<
      string,
      unknown
    >[];
  return { graph, provider, sources, account, writer, events, stored };
}

const calendarId = "ms-home";
const keyOf = ({ id }: CalendarEvent) => id.slice("ms-home/".length);

test("an event is shown in the zone in which it was entered, by its Windows name", async (t) => {
  const { events, sources } = await setUp(t);

  const dentist = (await events()).find(({ title }) => title === "dentist");

  const start = dentist && "dateTime" in dentist.start ? dentist.start : undefined;
  assert.equal(start?.timeZone, "America/Los_Angeles");
  assert.equal(Date.parse(start.dateTime), Date.parse(`${DAY}T14:00:00Z`));
  assert.deepEqual(
    [...sources.values()].map(({ state }) => [state.id, state.writable]),
    [
      ["ms-home", true],
      ["ms-team", undefined],
    ],
  );
});

test("an event is created, changed and removed, and each change names the version that it changes", async (t) => {
  const { graph, writer, events, stored } = await setUp(t);

  const { event } = await writer.change({
    action: "create",
    calendarId,
    fields: {
      title: "swim",
      start: { dateTime: `${DAY}T18:00:00+02:00`, timeZone: "Europe/Berlin" },
      location: "pool",
      busy: false,
    },
  });
  const shown = (await events()).find(({ title }) => title === "swim");
  assert.equal(shown?.id, event?.id);
  const [created] = stored("swim");
  assert.equal(created?.["originalStartTimeZone"], "W. Europe Standard Time");
  assert.equal(created["showAs"], "free");
  assert.deepEqual(created["location"], { displayName: "pool" });

  const key = event ? keyOf(event) : "";
  const fields = { title: "swim long", start: { date: DAY }, location: null };
  const changed = await writer.change({
    action: "update",
    calendarId,
    event: key,
    scope: "this",
    fields,
  });
  const [moved] = stored("swim long");
  assert.equal(moved?.["isAllDay"], true);
  assert.equal(moved["originalStartTimeZone"], "W. Europe Standard Time");
  assert.deepEqual(moved["end"], {
    dateTime: `${new Date(Date.parse(DAY) + DAY_MS).toISOString().slice(0, 10)}T00:00:00.0000000`,
    timeZone: "UTC",
  });

  const last = changed.event ? keyOf(changed.event) : "";
  await writer.change({ action: "remove", calendarId, event: last, scope: "this" });
  assert.deepEqual(stored("swim long"), []);
  assert.deepEqual(
    graph.writes.map((each) => each.replace(/"c\d+"/, "version")),
    ["POST -", "PATCH W/version", "DELETE W/version"],
  );
});

test("one occurrence of a series is changed, and nothing but the fields that differ", async (t) => {
  const { writer, stored } = await setUp(t);

  await writer.change({
    action: "update",
    calendarId,
    event: `standup.1/${DAY}T14:00:00Z`,
    scope: "this",
    fields: { title: "standup late" },
  });

  const [occurrence] = stored("standup late");
  assert.deepEqual(occurrence?.["start"], STANDUP.start);
  assert.equal(occurrence["originalStartTimeZone"], "Pacific Standard Time");
  assert.equal(occurrence["attendees"], "of others");
});

test("a change of all occurrences of a series is refused, and not made to one of them", async (t) => {
  const { graph, writer } = await setUp(t);
  const event = `standup.1/${DAY}T14:00:00Z`;

  for (const scope of ["all", "following"] as const) {
    const removal = writer.change({ action: "remove", calendarId, event, scope });
    await assert.rejects(removal, { code: "conflict", message: /only be changed one by one/ });
  }

  assert.deepEqual(graph.writes, []);
});

test("a new event with a rule becomes a series, whose occurrences are shown", async (t) => {
  const { writer, events } = await setUp(t);

  await writer.change({
    action: "create",
    calendarId,
    fields: { title: "choir", start: { date: DAY }, rrule: "FREQ=WEEKLY;COUNT=3" },
  });

  assert.equal((await events()).filter(({ title }) => title === "choir").length, 3);
});

for (const [what, fields, pointer] of [
  ["a web address", { url: "https://example.org/" }, "/url"],
  ["the status cancelled", { status: "cancelled" }, "/status"],
  ["a rule for an event that exists", { rrule: "FREQ=DAILY" }, "/rrule"],
] as const) {
  test(`${what} is refused with its field`, async (t) => {
    const { graph, writer } = await setUp(t);

    const change = writer.change({
      action: "update",
      calendarId,
      event: DENTIST_KEY,
      scope: "this",
      fields,
    });

    await assert.rejects(change, (error: { code: string; extras: { errors: object[] } }) => {
      assert.equal(error.code, "invalid");
      assert.equal((error.extras.errors[0] as { pointer: string }).pointer, pointer);
      return true;
    });
    assert.deepEqual(graph.writes, []);
  });
}

test("an event that has changed at Microsoft meanwhile is not overwritten", async (t) => {
  const { graph, writer, stored } = await setUp(t);
  const { etag } = await writer.change({ action: "read", calendarId, event: DENTIST_KEY });
  const [home] = graph.calendars;
  if (home) home.events = [{ ...DENTIST, changeKey: "d2", subject: "dentist at 3" }];

  const change = writer.change({
    action: "update",
    calendarId,
    event: DENTIST_KEY,
    scope: "this",
    ifMatch: etag ?? "",
    fields: { title: "mine" },
  });

  await assert.rejects(change, { code: "revision_stale" });
  assert.deepEqual(stored("mine"), []);
});

test("a token that ends within a change neither doubles nor loses it", async (t) => {
  const { graph, provider, writer, stored } = await setUp(t);
  graph.intervene = (_path, method) => {
    if (method !== "POST") return undefined;
    graph.intervene = () => undefined;
    provider.endAccess();
    return { status: 401 };
  };

  await writer.change({
    action: "create",
    calendarId,
    fields: { title: "once", start: { date: DAY } },
  });

  assert.equal(stored("once").length, 1);
  assert.deepEqual(provider.grants, ["refresh_token", "refresh_token"]);
});

for (const method of ["POST", "PATCH", "DELETE"] as const) {
  test(`a lost answer to ${method} neither doubles nor loses the change`, async (t) => {
    const { graph, writer, events } = await setUp(t);
    let lost = 0;
    graph.loses = (asked) => asked === method && lost++ === 0;
    const event = DENTIST_KEY;

    if (method === "POST") {
      const fields = { title: "once", start: { date: DAY } };
      await writer.change({ action: "create", calendarId, fields });
    } else if (method === "PATCH") {
      const fields = { title: "once" };
      await writer.change({ action: "update", calendarId, event, scope: "this", fields });
    } else await writer.change({ action: "remove", calendarId, event, scope: "this" });

    const titles = (await events()).map(({ title }) => title);
    assert.ok(lost >= 1);
    assert.equal(titles.filter((each) => each === "once").length, method === "DELETE" ? 0 : 1);
    assert.equal(titles.includes("dentist"), method === "POST");
  });
}

test("a service that is asked too often refuses a change with the time to wait", async (t) => {
  const { graph, writer } = await setUp(t);
  graph.intervene = (_path, method) =>
    method === "POST" ? { status: 429, headers: { "retry-after": "30" } } : undefined;

  const change = writer.change({
    action: "create",
    calendarId,
    fields: { title: "x", start: { date: DAY } },
  });

  await assert.rejects(change, (error: { code: string; extras: { retryAfterMs: number } }) => {
    assert.deepEqual([error.code, error.extras.retryAfterMs], ["rate_limited", 30_000]);
    return true;
  });
});

test("a sign-in that has ended refuses a change, and says so", async (t) => {
  const { provider, writer } = await setUp(t);
  provider.revoke();

  const change = writer.change({
    action: "create",
    calendarId,
    fields: { title: "x", start: { date: DAY } },
  });

  await assert.rejects(change, { code: "conflict", message: /ended this sign-in/ });
});

test("an event that moves to another calendar is in one of them, also if the first does not let it go at once", async (t) => {
  const { graph, account, writer, events } = await setUp(t);
  const work = { id: "AAMk=3", name: "Work", events: [] as readonly object[] };
  graph.calendars = [...graph.calendars, work as never];
  await account.refresh();
  let refused = 0;
  graph.intervene = (_path, method) =>
    method === "DELETE" && refused++ < 6 ? { status: 503 } : undefined;

  const move = writer.change({
    action: "update",
    calendarId,
    event: DENTIST_KEY,
    scope: "all",
    fields: {},
    moveTo: "ms-work",
  });
  await assert.rejects(move);
  await until(() => work.events.length === 0);

  assert.ok((await events()).some(({ title }) => title === "dentist"));
  graph.intervene = () => undefined;
  await writer.change({
    action: "update",
    calendarId,
    event: DENTIST_KEY,
    scope: "all",
    fields: {},
    moveTo: "ms-work",
  });
  assert.equal(work.events.length, 1);
  assert.ok(!(await events()).some(({ title }) => title === "dentist"));
});

test("a span beyond the days that are read says that it is not whole", async (t) => {
  const { sources } = await setUp(t);
  const source = sources.get("ms-home");
  const stateOf = async (from: number, to: number) => {
    const span = { from: Date.now() + from * DAY_MS, to: Date.now() + to * DAY_MS };
    return source?.view(await source.eventsIn(span));
  };

  const near = await stateOf(-31, 366);
  const far = await stateOf(300, 700);

  assert.equal(near?.incomplete, undefined);
  assert.equal(far?.incomplete, "partial");
  assert.match(far.error ?? "", /from 62 days ago to 400 days ahead/);
});

test("a calendar that cannot be changed is not written", async (t) => {
  const { graph, writer } = await setUp(t);

  const change = writer.change({
    action: "create",
    calendarId: "ms-team",
    fields: { title: "x", start: { date: DAY } },
  });

  await assert.rejects(change, { code: "conflict" });
  assert.deepEqual(graph.writes, []);
});

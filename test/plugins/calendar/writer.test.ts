import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import type { CalendarChange, CalendarTaskChange, MantelError } from "@mantel/plugin-sdk";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { tasksOf, TaskWriter } from "../../../plugins/calendar/task-writer.ts";
import type { Writer } from "../../../plugins/calendar/writer.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { countingProxy } from "../../helpers/proxy.ts";
import { type Radicale, startRadicale, withoutRadicale } from "../../helpers/radicale.ts";
import { calendar, event } from "./calendar-text.ts";
import { openAccount } from "./open-account.ts";
import { openWriter } from "./open-writer.ts";

const skip = withoutRadicale;
const SERIES = calendar(
  event(
    "UID:choir",
    "X-OF-OTHERS;X-A=1:stays",
    "DTSTART:20260601T090000Z",
    "DURATION:PT1H",
    "RRULE:FREQ=WEEKLY;COUNT=4",
    "SUMMARY:choir",
  ),
).toString();

let started: Promise<Radicale> | undefined;
const ends: (() => void | Promise<void>)[] = [];
after(async () => {
  for (const end of ends) await end();
});

/** One server for all tests of this file. */
function server(): Promise<Radicale> {
  started ??= startRadicale({ after: (end: () => void) => void ends.push(end) } as TestContext);
  return started;
}

/** A writer for the calendars Work and Home of a real server, behind a proxy that the test can make fail. */
async function setUp(t: TestContext) {
  const radicale = await server();
  const proxy = await countingProxy(t, radicale.url);
  const storage = createStorage(await emptyFolder(t), collectedLog());
  for (const path of ["work/", "home/", "todo/"])
    await radicale.put(path, null).catch(() => undefined);
  await radicale.make("work", { name: "Work" });
  await radicale.make("home", { name: "Home" });
  await radicale.put("work/choir.ics", SERIES);
  const { username, password } = radicale;
  const { account, sources, titles } = openAccount({ url: proxy.url, username, password }, storage);
  await account.refresh();
  const writing = {
    find: (id: string) => account.calendarOf(id),
    has: (id: string) => sources.has(id),
    publish: async () => {},
    zone: findZone("Europe/Berlin") ?? UTC,
    pausesMs: [10, 50, 100],
  };
  const { writer } = openWriter(writing, storage);
  const taskWriter = new TaskWriter(writing);
  const change = (some: CalendarChange) => writer.change(some);
  const create = (title: string) =>
    change({
      action: "create",
      calendarId: "dav-home",
      fields: { title, start: { dateTime: "2026-07-01T09:00:00Z" } },
    });
  const keyOf = ({ event: made }: Awaited<ReturnType<typeof change>>) =>
    made ? made.id.slice(made.calendarId.length + 1) : assert.fail("there is no event");
  return { radicale, proxy, account, sources, titles, writer, taskWriter, change, create, keyOf };
}

const SECOND = "choir/2026-06-08T09:00:00Z";
const work = { calendarId: "dav-work" } as const;

test("events are created, changed, moved and removed at a real server", { skip }, async (t) => {
  const { change, create, keyOf, titles, sources } = await setUp(t);
  const home = { calendarId: "dav-home" } as const;

  const made = await create("zoo");
  assert.ok(made.etag);
  assert.deepEqual(await titles(), ["choir", "choir", "choir", "choir", "zoo"]);
  const key = keyOf(made);
  assert.deepEqual(await change({ action: "read", ...home, event: key }), made);

  const fields = { title: "park", location: "Gate 1" };
  const changed = await change({ action: "update", ...home, event: key, scope: "this", fields });
  assert.deepEqual([changed.event?.title, changed.event?.location], ["park", "Gate 1"]);
  const moveTo = "dav-work";
  const moved = await change({
    ...{ action: "update", ...home, event: key, scope: "this", fields: {}, moveTo },
  });
  assert.equal(moved.event?.calendarId, "dav-work");
  await change({
    action: "update",
    ...work,
    event: SECOND,
    scope: "this",
    fields: { title: "solo" },
  });
  assert.deepEqual(await titles(), ["choir", "choir", "choir", "park", "solo"]);
  await change({ action: "remove", ...work, event: SECOND, scope: "following" });
  await change({ action: "remove", ...work, event: keyOf(moved), scope: "this" });

  assert.deepEqual(await titles(), ["choir"]);
  for (const source of sources.values()) assert.equal(source.view().status, "ok");
});

test("an event in words is created in the zone of the home", { skip }, async (t) => {
  const { change } = await setUp(t);
  const say = (text: string) => change({ action: "create", calendarId: "dav-home", text });

  const { event: made } = await say("5 December 2031 9:30 dentist");

  assert.equal(made?.title, "Dentist");
  const start = { dateTime: "2031-12-05T09:30:00+01:00", timeZone: "Europe/Berlin" };
  assert.deepEqual(made?.start, start);
  await assert.rejects(say("milk"), { code: "invalid", message: /needs a day or a time/ });
});

test("a series that is split at a server has every occurrence once", { skip }, async (t) => {
  const { change, titles, account } = await setUp(t);

  const fields = { title: "band" };
  await change({ action: "update", ...work, event: SECOND, scope: "following", fields });

  assert.deepEqual(await titles(), ["band", "band", "band", "choir"]);
  await account.refresh();
  assert.deepEqual(await titles(), ["band", "band", "band", "choir"]);
});

test(
  "a change of a version that is not the newest is refused, and changes nothing",
  { skip },
  async (t) => {
    const { change, radicale, titles } = await setUp(t);
    const { etag } = await change({ action: "read", ...work, event: SECOND });
    assert.ok(etag);
    await radicale.put("work/choir.ics", SERIES.replace("SUMMARY:choir", "SUMMARY:theirs"));
    const fields = { title: "ours" };
    const update = { action: "update", ...work, event: SECOND, scope: "all", fields } as const;

    await assert.rejects(change({ ...update, ifMatch: etag }), { code: "revision_stale" });
    await assert.rejects(
      change({ action: "remove", ...work, event: SECOND, scope: "all", ifMatch: etag }),
      { code: "revision_stale" },
    );

    const now = await change({ action: "read", ...work, event: SECOND });
    assert.equal(now.event?.title, "theirs");
    await change({ ...update, ifMatch: now.etag ?? "" });
    assert.deepEqual(await titles(), ["ours", "ours", "ours", "ours"]);
  },
);

test("changes at the same time are all kept, each on the one before", { skip }, async (t) => {
  const { change, radicale } = await setUp(t);
  const update = (fields: object) =>
    change({ action: "update", ...work, event: SECOND, scope: "all", fields });

  await Promise.all([
    update({ title: "ours" }),
    update({ location: "Hall" }),
    update({ description: "Bring notes" }),
    radicale.put("work/other.ics", SERIES.replaceAll("UID:choir", "UID:other")),
  ]);

  const { event: now } = await change({ action: "read", ...work, event: SECOND });
  assert.deepEqual([now?.title, now?.location, now?.description], ["ours", "Hall", "Bring notes"]);
});

test(
  "an answer that is lost is looked for, so that nothing is saved twice",
  { skip },
  async (t) => {
    const { create, change, keyOf, titles, proxy } = await setUp(t);
    const lose = (method: string) => {
      let left = 1;
      proxy.loseAnswer = (request) => request === method && left-- > 0;
    };

    lose("PUT");
    const made = await create("zoo");
    assert.ok(made.etag);
    lose("PUT");
    const place = { calendarId: "dav-home", event: keyOf(made), scope: "all" } as const;
    await change({ action: "update", ...place, fields: { title: "park" } });
    assert.deepEqual((await titles()).slice(-1), ["park"]);
    lose("DELETE");
    await change({ action: "remove", ...place });

    assert.deepEqual(await titles(), ["choir", "choir", "choir", "choir"]);
  },
);

test("while a server is down nothing is reported as saved", { skip }, async (t) => {
  const { create, radicale, titles, account } = await setUp(t);
  await radicale.stop();

  await assert.rejects(create("zoo"), ({ code }: MantelError) =>
    ["outcome_unknown", "service_unavailable"].includes(code),
  );

  await radicale.start();
  await account.refresh();
  assert.deepEqual(await titles(), ["choir", "choir", "choir", "choir"]);
});

test("calendars that are only read, and unknown ones, are refused", { skip }, async (t) => {
  const { writer } = await setUp(t);
  const reading = openWriter(
    {
      find: () => undefined,
      has: (id) => id === "file",
      publish: async () => {},
      zone: UTC,
    },
    createStorage(await emptyFolder(t), collectedLog()),
  ).writer;
  const read = (by: Writer, calendarId: string) =>
    by.change({ action: "read", calendarId, event: SECOND });

  await assert.rejects(read(reading, "file"), {
    code: "conflict",
    message: /only calendars of accounts/,
  });
  await assert.rejects(read(reading, "nobody"), { code: "not_found" });
  await assert.rejects(writer.change({ action: "read", ...work, event: "nothing/2026-06-01" }), {
    code: "not_found",
  });
});

const todo = { calendarId: "dav-to-do" } as const;
const REPEATING = calendar(
  "BEGIN:VTODO",
  "UID:bins",
  "DTSTART;VALUE=DATE:20260601",
  "DUE;VALUE=DATE:20260601",
  "RRULE:FREQ=WEEKLY",
  "SUMMARY:bins",
  "END:VTODO",
).toString();

/** As `setUp`, with the calendar To do, which has only tasks. */
async function setUpTasks(t: TestContext) {
  const all = await setUp(t);
  await all.radicale.make("todo", { name: "To do", onlyTasks: true });
  await all.account.refresh();
  const shown = () => tasksOf([all.account]).tasks.map(({ title, status }) => [title, status]);
  return { ...all, shown, change: (some: CalendarTaskChange) => all.taskWriter.change(some) };
}

test("tasks are created, ticked off and removed at a real server", { skip }, async (t) => {
  const { account, change, shown, sources } = await setUpTasks(t);
  assert.ok(tasksOf([account]).lists.some(({ id }) => id === "dav-to-do"));

  const due = { dateTime: "2026-07-01T09:00:00+02:00", timeZone: "Europe/Berlin" };
  const fields = { title: "milk", due };
  const { task: made, etag } = await change({ action: "create", ...todo, fields });
  await change({ action: "create", ...todo, fields: { title: "bread" } });
  assert.ok(made && etag);
  assert.deepEqual(made.due, due);
  const opened = [
    ["milk", "needs-action"],
    ["bread", "needs-action"],
  ];
  assert.deepEqual(shown(), opened);
  const place = { ...todo, uid: made.uid };
  assert.deepEqual(await change({ action: "read", ...place }), { task: made, etag });

  const ticked = { action: "update", ...place, fields: { status: "completed" } } as const;
  const done = await change({ ...ticked, ifMatch: etag });
  assert.ok(done.task?.completedAt);
  assert.deepEqual(shown(), [
    ["bread", "needs-action"],
    ["milk", "completed"],
  ]);
  await assert.rejects(change({ ...ticked, ifMatch: etag }), { code: "revision_stale" });
  const stale = { action: "remove", ...place, ifMatch: etag } as const;
  await assert.rejects(change(stale), { code: "revision_stale" });
  await change({ action: "remove", ...place });

  assert.deepEqual(shown(), [["bread", "needs-action"]]);
  await assert.rejects(change({ action: "read", ...place }), { code: "not_found" });
  const { status, error } = sources.get("dav-to-do")?.view() ?? {};
  assert.deepEqual([status, error], ["ok", undefined]);
});

test(
  "a task that repeats is shown, and its change is refused with the way out",
  { skip },
  async (t) => {
    const { account, radicale, change, shown } = await setUpTasks(t);
    await radicale.put("todo/bins.ics", REPEATING);
    await account.refresh();

    assert.deepEqual(shown(), [["bins", "needs-action"]]);
    const place = { ...todo, uid: "bins" };
    const refused = {
      code: "conflict",
      message: /repeats .* change it in the program that made it/,
    };
    const fields = { status: "completed" } as const;
    await assert.rejects(change({ action: "update", ...place, fields }), refused);
    await assert.rejects(change({ action: "remove", ...place }), refused);
  },
);

test("an event is not a task", { skip }, async (t) => {
  const { change } = await setUpTasks(t);

  const read = change({ action: "read", ...work, uid: "choir" });

  await assert.rejects(read, { code: "not_found", message: "no task has the id choir" });
});

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { removeUnusedCalendars, storageKey } from "../../../plugins/calendar/web/subscription.ts";
import { serveDavAccount } from "../../fakes/dav-account.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { calendar, event } from "./calendar-text.ts";
import { openAccount } from "./open-account.ts";

const COUNT = 500;
const object = (title: string) =>
  calendar(event(`UID:${title}`, "DTSTART:20260601T090000Z", `SUMMARY:${title}`)).toString();
const MANY = Object.fromEntries(
  Array.from({ length: COUNT }, (_, at) => [`${at}.ics`, object(String(at))]),
);

/** An account with a large and a small calendar; both servers' answers can be replaced. */
async function setUp(t: TestContext) {
  const server = await serveDavAccount(t);
  server.calendars.set("large", { name: "Large", objects: MANY });
  server.calendars.set("small", { name: "Small", objects: { "a.ics": object("zoo") } });
  const folder = await emptyFolder(t);
  const storage = createStorage(folder, collectedLog());
  const open = (changed?: () => void) => openAccount({ url: server.url }, storage, changed);
  return { server, open, storage, folder };
}

test("a change in a large calendar stores and asks for only what has changed", async (t) => {
  const { server, open, storage } = await setUp(t);
  const { account, titles } = open();
  await account.refresh();
  const written: string[] = [];
  t.mock.method(storage, "set", async (key: string) => void written.push(key));
  server.requests.length = 0;

  const large = server.calendars.get("large") ?? assert.fail();
  large.objects = { ...MANY, "7.ics": object("changed") };
  await account.calendarOf("dav-large")?.readChanges();

  assert.equal((await titles()).filter((title) => title === "changed").length, 1);
  assert.equal(written.length, 2, "the head and one part");
  assert.deepEqual(server.requests, ["REPORT /home/large/", "REPORT /home/large/"]);
});

test("nothing stays on the disk of an account that is removed", async (t) => {
  const { server, open, storage, folder } = await setUp(t);
  await open().account.refresh();
  await removeUnusedCalendars(storage, [storageKey({ url: server.url })]);

  await removeUnusedCalendars(storage, []);

  assert.deepEqual((await readdir(folder)).toSorted(), ["feeds.json", "feeds.json.last-good"]);
});

/** Refuses the objects of the large calendar after some answers. */
function refuseAfter(server: Awaited<ReturnType<typeof setUp>>["server"], answers: number) {
  let left = answers;
  server.intervene = ({ path, body }) =>
    path === "/home/large/" && body.includes("multiget") && left-- <= 0
      ? { status: 500 }
      : undefined;
}

test("a large calendar is shown while it is read, with how far it is", async (t) => {
  const { open } = await setUp(t);
  const seen = new Map<number, unknown>();
  const { account, sources } = open(() => {
    const { progress, incomplete, error } = sources.get("dav-large")?.view() ?? {};
    if (progress) seen.set(progress.done, [progress, incomplete, error]);
  });

  await account.refresh();

  const progress = (done: number) => ({ done, total: COUNT, unit: "events" });
  assert.deepEqual(
    [...seen.values()],
    [
      [progress(200), "pending", "200 of 500 events are read"],
      [progress(400), "pending", "400 of 500 events are read"],
    ],
  );
  const { status, progress: left, incomplete } = sources.get("dav-large")?.view() ?? {};
  assert.deepEqual([status, left, incomplete], ["ok", undefined, undefined]);
});

test("a first read that breaks off continues where it ended, also after a restart", async (t) => {
  const { server, open } = await setUp(t);
  refuseAfter(server, 5);
  const first = open();
  await first.account.refresh();
  const broken = first.sources.get("dav-large")?.view();
  assert.deepEqual([broken?.status, broken?.incomplete], ["stale", "pending"]);

  server.intervene = () => undefined;
  server.requests.length = 0;
  const second = open();
  await second.account.restore();
  assert.equal(second.sources.get("dav-large")?.view().incomplete, "pending");
  await second.account.refresh();

  assert.equal((await second.titles()).length, COUNT + 1);
  assert.equal(second.sources.get("dav-large")?.view().incomplete, undefined);
  const reports = server.requests.filter((each) => each === "REPORT /home/large/");
  // the list, two looks at what to read first, and 250 of 500 events
  assert.equal(reports.length, 1 + 2 + 250 / 50);
});

test("coming events are read first", async (t) => {
  const { server, open } = await setUp(t);
  const last = `${COUNT - 1}.ics`;
  const asked: string[] = [];
  server.intervene = ({ path, body }) => {
    if (path !== "/home/large/") return undefined;
    if (body.includes("multiget")) asked.push(body);
    return body.includes("calendar-query")
      ? {
          status: 207,
          body: `<d:multistatus xmlns:d="DAV:"><d:response><d:href>/home/large/${last}</d:href><d:propstat><d:prop><d:getetag>"1"</d:getetag></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`,
        }
      : undefined;
  };

  await open().account.refresh();

  assert.ok(asked[0]?.includes(`/home/large/${last}<`));
});

test("a calendar that does not answer leaves the others current", async (t) => {
  const { server, open } = await setUp(t);
  refuseAfter(server, 0);
  const current: unknown[] = [];
  const { account, sources } = open(() => current.push(sources.get("dav-small")?.view().status));

  await account.refresh();

  assert.equal(sources.get("dav-small")?.view().status, "ok");
  assert.equal(sources.get("dav-large")?.view().status, "error");
});

test("a calendar that is renamed at its server stays as it is, under the new name", async (t) => {
  const { server, open } = await setUp(t);
  const { account, sources } = open();
  await account.refresh();
  const [before, changedAt] = [
    sources.get("dav-small"),
    sources.get("dav-small")?.view().changedAt,
  ];

  server.calendars.set("small", { name: "Ours", objects: { "a.ics": object("zoo") } });
  await account.refresh();

  assert.equal(sources.get("dav-small"), before);
  const view = before?.view();
  assert.deepEqual([view?.name, view?.status, view?.changedAt], ["Ours", "ok", changedAt]);
});

test("the last change of a calendar is told apart from its last confirmation, also after a restart", async (t) => {
  const { open } = await setUp(t);
  const { account, sources } = open();
  await account.refresh();
  const first = sources.get("dav-small")?.view();

  await account.refresh();
  const second = sources.get("dav-small")?.view();
  const after = open();
  await after.account.restore();

  assert.equal(second?.changedAt, first?.changedAt);
  assert.ok((second?.fetchedAt ?? "") >= (first?.fetchedAt ?? ""));
  const restored = after.sources.get("dav-small")?.view();
  assert.equal(restored?.changedAt, first?.changedAt);
  assert.match(restored?.error ?? "", /has not answered yet, so older events are shown/);
});

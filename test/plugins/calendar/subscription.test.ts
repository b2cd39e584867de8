import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import { Source } from "../../../plugins/calendar/source.ts";
import {
  storageKey,
  Subscription,
  removeUnusedCalendars,
} from "../../../plugins/calendar/web/subscription.ts";
import { calendar, event } from "./calendar-text.ts";

const YEAR = { from: Date.parse("2026-01-01"), to: Date.parse("2027-01-01") };
const log = { debug() {}, info() {}, warn() {}, error() {} };

/** A server whose calendar has an ETag, and subscriptions to it that share a storage folder. */
async function setUp(t: TestContext) {
  const seen: (string | undefined)[] = [];
  const served = { status: 200, etag: '"one"', withoutETag: undefined as Buffer | undefined };
  const server = createServer((request, response) => {
    if (served.withoutETag) return void response.end(served.withoutETag);
    seen.push(request.headers["if-none-match"]);
    const same = request.headers["if-none-match"] === served.etag;
    response.writeHead(served.status === 200 && same ? 304 : served.status, { etag: served.etag });
    response.end(
      same ? undefined : calendar(event("UID:a", "DTSTART:20260601T090000Z", "SUMMARY:zoo")),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const folder = await mkdtemp(join(tmpdir(), "mantel-subscription-"));
  t.after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const feed = { id: "club", url, allowPrivate: true };
  const storage = createStorage(folder, log);
  const subscribe = () => {
    const source = new Source({ id: "club", fallbackName: "club", floating: UTC });
    t.after(() => source.close());
    const subscription = new Subscription({
      feed,
      source,
      storage,
      log,
      refreshMs: 900_000,
      changed: () => {},
      signal: new AbortController().signal,
    });
    return { source, subscription };
  };
  return { seen, served, feed, folder, storage, subscribe };
}

test("an unchanged calendar needs one conditional request, also after a restart", async (t) => {
  const { seen, subscribe } = await setUp(t);
  const before = subscribe();
  await before.subscription.refresh();
  await before.subscription.refresh();

  const after = subscribe();
  await after.subscription.restore();
  await after.subscription.refresh();

  assert.deepEqual(seen, [undefined, '"one"', '"one"']);
  assert.equal(after.source.view().status, "ok");
  assert.equal((await after.source.eventsIn(YEAR)).events.length, 1);
});

test("an unchanged calendar without ETags is stored once despite new timestamps, and a change is read", async (t) => {
  const { served, feed, storage, subscribe } = await setUp(t);
  const content = (stamp: number, title: string) =>
    calendar(
      event(
        "UID:a",
        `DTSTAMP:20260101T00000${stamp}Z`,
        "DTSTART:20260601T090000Z",
        `SUMMARY:${title}`,
      ),
    );
  const { source, subscription } = subscribe();
  const read = async (next: Buffer, by = subscription) => {
    served.withoutETag = next;
    await by.refresh();
    return storage.get(storageKey(feed));
  };
  const titles = async () => (await source.eventsIn(YEAR)).events.map(({ title }) => title);

  const first = await read(content(1, "zoo"));
  const fetchedAt = source.view().fetchedAt ?? "";
  assert.deepEqual(await read(content(2, "zoo")), first);
  assert.ok((source.view().fetchedAt ?? "") >= fetchedAt);
  assert.notDeepEqual(await read(content(2, "park")), first);
  assert.deepEqual(await titles(), ["park"]);
  const after = subscribe();
  await after.subscription.restore();
  const kept = await storage.get(storageKey(feed));
  assert.deepEqual(await read(content(3, "park"), after.subscription), kept);
  assert.equal(after.source.view().status, "ok");
});

test("an unchanged calendar with a new ETag is then requested with the new ETag", async (t) => {
  const { served, seen, subscribe } = await setUp(t);
  const { subscription } = subscribe();

  await subscription.refresh();
  served.etag = '"two"';
  await subscription.refresh();
  await subscription.refresh();

  assert.deepEqual(seen, [undefined, '"one"', '"two"']);
});

test("if its server is down after a restart, a calendar shows its last events as stale", async (t) => {
  const { served, subscribe } = await setUp(t);
  const before = subscribe();
  await before.subscription.refresh();
  const { fetchedAt } = before.source.view();

  served.status = 503;
  const { source, subscription } = subscribe();
  await subscription.restore();
  await subscription.refresh();

  assert.equal((await source.eventsIn(YEAR)).events.length, 1);
  assert.deepEqual(source.view(), {
    ...before.source.view(),
    status: "stale",
    fetchedAt,
    error: "the server answered with status 503",
    reasons: [
      {
        code: "status",
        text: "the server answered with status {status}",
        values: { status: 503 },
      },
    ],
  });
});

test("the cache of a calendar is removed when the calendar is removed", async (t) => {
  const { feed, folder, storage, subscribe } = await setUp(t);
  await removeUnusedCalendars(storage, [storageKey(feed)]);
  await subscribe().subscription.refresh();
  assert.equal((await readdir(folder)).length, 4, "two values, each with its copy");

  await removeUnusedCalendars(storage, []);

  assert.deepEqual((await readdir(folder)).toSorted(), ["feeds.json", "feeds.json.last-good"]);
});

test("a calendar that cannot be cached is shown as current, with a log record", async (t) => {
  const { folder, subscribe } = await setUp(t);
  await rm(folder, { recursive: true });
  await writeFile(folder, "a file where the folder of the storage should be");
  const { source, subscription } = subscribe();

  await subscription.refresh();

  assert.equal(source.view().status, "ok");
  assert.equal((await source.eventsIn(YEAR)).events.length, 1);
});

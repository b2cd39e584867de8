import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { FeedAddresses } from "../../../../host/calendar/feed-addresses.ts";
import { CalendarFeed } from "../../../../host/calendar/feed.ts";
import { collectedLog } from "../../../helpers/collected-log.ts";
import { json, serveApp } from "../serve-app.ts";

const WINDOW = {
  start: "2026-01-01T00:00:00Z",
  end: "2027-01-01T00:00:00Z",
  events: [],
  sources: [],
};

/** The API with calendars, and a way to make a feed address. */
async function setUp(...args: Parameters<typeof serveApp>) {
  const [t] = args;
  const calendarFeed = new CalendarFeed();
  calendarFeed.accept(WINDOW);
  const app = await serveApp(t, { calendarFeed });
  const make = async (name = "phone") => {
    const response = await app.api("admin", "/calendar/feeds", json("POST", { name }));
    assert.equal(response.status, 201);
    return (await response.json()) as { feed: { id: string; name: string }; path: string };
  };
  return { ...app, make };
}

test("the feed is iCalendar and answers 304 while it is unchanged", async (t) => {
  const { api } = await setUp(t);

  const first = await api("read", "/calendar/feed.ics");
  const etag = first.headers.get("etag") ?? "";
  const again = await api("read", "/calendar/feed.ics", { headers: { "if-none-match": etag } });

  assert.equal(first.status, 200);
  assert.equal(first.headers.get("content-type"), "text/calendar; charset=utf-8");
  assert.match(await first.text(), /^BEGIN:VCALENDAR/);
  assert.deepEqual([again.status, again.headers.get("etag")], [304, etag]);
});

test("a feed address gives the feed without a token until it is revoked, and nothing else", async (t) => {
  const { url, api, make } = await setUp(t);
  const { feed, path } = await make();
  const other = await make("tablet");

  const given = await fetch(url + path);
  assert.equal(given.status, 200);
  assert.match(await given.text(), /^BEGIN:VCALENDAR/);
  assert.equal((await fetch(url + path, { method: "HEAD" })).status, 200);
  const secret = path.split("/").at(-1)?.replace(".ics", "") ?? "";
  const headers = { authorization: `Bearer ${secret}` };
  assert.equal((await fetch(`${url}/api/v1/calendar/feed.ics`, { headers })).status, 401);

  assert.equal(
    (await api("admin", `/calendar/feeds/${feed.id}`, { method: "DELETE" })).status,
    204,
  );
  assert.equal((await fetch(url + path)).status, 401);
  assert.equal((await fetch(url + other.path)).status, 200);
  assert.equal(
    (await api("admin", `/calendar/feeds/${feed.id}`, { method: "DELETE" })).status,
    404,
  );
});

test("feed addresses are managed with the admin scope alone, and listed without secrets", async (t) => {
  const { api, make } = await setUp(t);
  const { feed } = await make();

  for (const scope of ["read", "control", "edit"] as const) {
    assert.equal((await api(scope, "/calendar/feeds")).status, 403);
    assert.equal((await api(scope, "/calendar/feeds", json("POST", { name: "a" }))).status, 403);
  }
  const listed = await api("admin", "/calendar/feeds");

  assert.deepEqual(await listed.json(), { feeds: [feed] });
  assert.equal((await api("admin", "/calendar/feeds", json("POST", {}))).status, 422);
});

test("the secret of a feed address appears only in the answer that created it", async (t) => {
  const { url, api, make, log, data } = await setUp(t);
  const { path } = await make();
  const secret = path.split("/").at(-1)?.replace(".ics", "") ?? "";
  assert.equal(secret.length, 43);

  await fetch(url + path);
  await fetch(url + path, { method: "POST" });
  await fetch(`${url}${path.replace("/api/v1/calendar", "/API/V1/Calendar")}`);
  await fetch(`${url}${path}/more`);

  const listed = await (await api("admin", "/calendar/feeds")).text();
  const metrics = await (await api("read", "/metrics")).text();
  const files = ["calendar-feeds.json", "calendar-feeds.json.last-good", "audit.log"];
  const kept = await Promise.all(files.map((file) => readFile(join(data, file), "utf8")));
  for (const text of [listed, metrics, JSON.stringify(log.records), ...kept]) {
    assert.ok(!text.includes(secret));
  }
  assert.match(kept[2] ?? "", /calendar\.feed\.create/);
});

test("feed addresses survive a restart, and a wrong secret is refused", async (t) => {
  const { data, make, url, parts } = await setUp(t);
  const { feed, path } = await make();
  const secret = path.split("/").at(-1)?.replace(".ics", "") ?? "";

  const after = await FeedAddresses.open(data, collectedLog());

  assert.deepEqual(
    after.list().map(({ id }) => id),
    [feed.id],
  );
  assert.equal(after.admits(secret), true);
  for (const wrong of ["", "a", secret.slice(1), `${secret}a`, feed.id]) {
    assert.equal(after.admits(wrong), false);
  }
  assert.equal(parts.feedAddresses.admits(secret), true);
  assert.equal((await fetch(`${url}${path.replace(/.\.ics/, "_.ics")}`)).status, 401);
});

test("requests with feed addresses are limited like those without a token", async (t) => {
  const { api, url } = await setUp(t);
  const rateLimit = { perSecond: 1, burst: 1, loopback: true };
  await api("admin", "/config", json("PATCH", { server: { rateLimit } }));

  const statuses = await Promise.all(
    Array.from(
      { length: 6 },
      async () => (await fetch(`${url}/api/v1/calendar/feeds/a.ics`)).status,
    ),
  );

  assert.ok(statuses.includes(429), statuses.join());
});

test("before calendars have been read the feed gives a time to retry", async (t) => {
  const { api } = await serveApp(t);

  const response = await api("read", "/calendar/feed.ics");

  assert.equal(response.status, 503);
  assert.ok(Number(response.headers.get("retry-after")) >= 1);
});

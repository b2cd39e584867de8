import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import { Source } from "../../../plugins/calendar/source.ts";
import { Subscription } from "../../../plugins/calendar/web/subscription.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { startNginx, withoutNginx } from "../../helpers/nginx.ts";
import { calendar, event } from "./calendar-text.ts";

const YEAR = { from: Date.parse("2026-01-01"), to: Date.parse("2027-01-01") };
const skip = withoutNginx;
const titled = (title: string, times = 1) =>
  calendar(
    ...Array.from({ length: times }, (_, n) =>
      event(`UID:${n}`, "DTSTART:20260601T090000Z", `SUMMARY:${title}`),
    ),
  );

/** A web server, and how to subscribe to a path of it. */
async function setUp(t: TestContext) {
  const nginx = await startNginx(t);
  const storage = createStorage(await emptyFolder(t), collectedLog());
  const subscribe = (path: string, options: object = {}) => {
    const source = new Source({ id: "club", fallbackName: "club", floating: UTC });
    const subscription = new Subscription({
      feed: { id: "club", url: `${nginx.url}${path}`, allowPrivate: true, ...options },
      source,
      storage,
      log: collectedLog(),
      refreshMs: 900_000,
      changed: () => {},
      signal: new AbortController().signal,
    });
    return { subscription, source, titles: async () => titlesOf(source) };
  };
  return { nginx, subscribe };
}

const titlesOf = async (source: Source) =>
  (await source.eventsIn(YEAR)).events.map(({ title }) => title).slice(0, 2);

test(
  "an unchanged calendar needs one request without a body, a changed one a request with a body",
  { skip },
  async (t) => {
    const { nginx, subscribe } = await setUp(t);
    await nginx.write("a.ics", titled("zoo"));
    const { subscription, titles } = subscribe("/a.ics");

    await subscription.refresh();
    await subscription.refresh();
    await subscription.refresh();
    await nginx.write("a.ics", titled("museum with more letters"));
    await subscription.refresh();

    assert.deepEqual(await titles(), ["museum with more letters"]);
    const statuses = (await nginx.requests()).map((line) => line.split(" ").slice(1, 3).join(" "));
    assert.deepEqual(statuses, ["/a.ics 200", "/a.ics 304", "/a.ics 304", "/a.ics 200"]);
    assert.match((await nginx.requests())[1] ?? "", / 304 0$/);
  },
);

test("a large calendar is downloaded compressed", { skip }, async (t) => {
  const { nginx, subscribe } = await setUp(t);
  const bytes = titled("zoo", 5_000);
  await nginx.write("a.ics", bytes);
  const { subscription, source } = subscribe("/a.ics");

  await subscription.refresh();

  assert.equal(source.view().status, "ok");
  const sent = Number((await nginx.requests())[0]?.split(" ")[3]);
  assert.ok(sent > 0 && sent < bytes.length / 5, `${sent} of ${bytes.length} bytes`);
});

test("a calendar behind a redirect stays conditional", { skip }, async (t) => {
  const { nginx, subscribe } = await setUp(t);
  await nginx.write("a.ics", titled("zoo"));
  const { subscription, titles } = subscribe("/moved/a.ics");

  await subscription.refresh();
  await subscription.refresh();

  assert.deepEqual(await titles(), ["zoo"]);
  const statuses = (await nginx.requests()).map((line) => line.split(" ")[2]);
  assert.deepEqual(statuses, ["301", "200", "301", "304"]);
});

test(
  "a locked calendar opens with the right password, given apart or in the address",
  { skip },
  async (t) => {
    const { nginx, subscribe } = await setUp(t);
    await nginx.write("locked/a.ics", titled("zoo"));

    const wrong = subscribe("/locked/a.ics", { username: "ann", password: "no" });
    const right = subscribe("/locked/a.ics", { username: "ann", password: "pw" });
    const inside = subscribe("", { url: `${nginx.url.replace("//", "//ann:pw@")}/locked/a.ics` });
    for (const { subscription } of [wrong, right, inside]) await subscription.refresh();

    assert.match(
      wrong.source.view().error ?? "",
      /does not accept the user name and password \(401\)/,
    );
    assert.deepEqual(await right.titles(), ["zoo"]);
    assert.deepEqual(await inside.titles(), ["zoo"]);
  },
);

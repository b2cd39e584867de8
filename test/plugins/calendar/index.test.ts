import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { calendarEvents } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/calendar/index.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { calendar, event } from "./calendar-text.ts";

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
const tomorrow = (title: string) =>
  calendar(event(`UID:${title}`, `DTSTART;VALUE=DATE:${TOMORROW}`, `SUMMARY:${title}`));

const MARK = Buffer.from("\ufeff");

/** A folder for calendars that is removed when the test ends. */
async function makeFolder(t: TestContext, files: Record<string, Buffer> = {}) {
  const folder = await emptyFolder(t);
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

async function start(t: TestContext, folder: string, sources: Record<string, object> = {}) {
  const assertClosed = watchResources();
  const running = await startPlugin(plugin, {
    config: { refreshSeconds: 900, defaultDays: 14, sources },
    folders: { calendars: folder },
  });
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    await running.stop();
    await assertClosed();
  };
  onTestEnd(t, stop);
  const window = () => running.published["calendar.window"] ?? assert.fail("nothing was published");
  return {
    running,
    stop,
    window,
    titles: () =>
      window()
        .events.map(({ title }) => title)
        .toSorted(),
    source: (id: string) => window().sources.find((each) => each.id === id),
  };
}

test("files in the folder are calendars as soon as the plugin has started", async (t) => {
  const folder = await makeFolder(t, {
    "Our Family.ics": tomorrow("zoo"),
    "notes.txt": tomorrow("no"),
  });

  const { titles, window } = await start(t, folder);

  assert.deepEqual(titles(), ["zoo"]);
  const [source, ...others] = window().sources;
  assert.deepEqual([source?.id, source?.name, source?.status], ["our-family", "Our Family", "ok"]);
  assert.deepEqual(others, []);
});

test("adding, changing, replacing and removing a file is detected", async (t) => {
  const folder = await makeFolder(t);
  const { titles, window } = await start(t, folder);
  const file = join(folder, "family.ics");

  await writeFile(file, tomorrow("zoo"));
  await until(() => titles().includes("zoo"));
  await writeFile(file, tomorrow("museum"));
  await until(() => titles().join() === "museum");
  await writeFile(join(folder, "new.part"), tomorrow("beach"));
  await rename(join(folder, "new.part"), file);
  await until(() => titles().join() === "beach");
  await rm(file);
  await until(() => window().sources.length === 0);

  assert.deepEqual(titles(), []);
});

test("a file that becomes invalid keeps its last good events and gives the reason", async (t) => {
  const folder = await makeFolder(t, {
    "family.ics": tomorrow("zoo"),
    "good.ics": tomorrow("park"),
  });
  const { titles, source } = await start(t, folder);

  await writeFile(join(folder, "family.ics"), tomorrow("museum").subarray(0, 60));
  await until(() => source("family")?.status === "stale");

  assert.deepEqual(titles(), ["park", "zoo"]);
  assert.match(source("family")?.error ?? "", /ends in the middle/);
  assert.equal(source("good")?.status, "ok");
});

test("links are shown as an error and not followed", async (t) => {
  const elsewhere = await makeFolder(t, { "secret.ics": tomorrow("secret") });
  const folder = await makeFolder(t);
  await symlink(join(elsewhere, "secret.ics"), join(folder, "link.ics"));

  const { titles, source } = await start(t, folder);

  assert.deepEqual(titles(), []);
  assert.equal(source("link")?.status, "error");
  assert.match(source("link")?.error ?? "", /links are not followed/);
});

test("the source contains the number of skipped events", async (t) => {
  const broken = calendar(
    event("UID:a", "DTSTART:never"),
    event("UID:b", `DTSTART;VALUE=DATE:${TOMORROW}`),
  );
  const folder = await makeFolder(t, { "family.ics": broken });

  const { source } = await start(t, folder);

  assert.equal(source("family")?.status, "ok");
  assert.match(source("family")?.error ?? "", /^1 event was skipped/);
});

test("two files whose names give the same id each have a calendar", async (t) => {
  const folder = await makeFolder(t, { "a b.ics": tomorrow("one"), "a-b.ics": tomorrow("two") });

  const { titles, window } = await start(t, folder);

  assert.deepEqual(titles(), ["one", "two"]);
  assert.equal(new Set(window().sources.map(({ id }) => id)).size, 2);
});

test("a folder of files is one calendar, and its changes are detected", async (t) => {
  const folder = await makeFolder(t);
  await mkdir(join(folder, "work"));
  await writeFile(join(folder, "work", "a.ics"), tomorrow("zoo"));
  const { titles, source, window } = await start(t, folder);
  assert.equal(source("work")?.name, "work");

  await writeFile(join(folder, "work", "b.ics"), Buffer.concat([MARK, tomorrow("park")]));
  await until(() => titles().join() === "park,zoo");
  await rm(join(folder, "work", "a.ics"));
  await until(() => titles().join() === "park");
  await rm(join(folder, "work"), { recursive: true });
  await until(() => window().sources.length === 0);

  assert.deepEqual(titles(), []);
});

test("contacts in the folder are a calendar of birthdays", async (t) => {
  const month = TOMORROW.slice(4);
  const folder = await makeFolder(t, {
    "people.vcf": Buffer.from(`BEGIN:VCARD\nVERSION:4.0\nFN:Ada\nBDAY:--${month}\nEND:VCARD\n`),
  });

  const { titles } = await start(t, folder);

  assert.equal(titles()[0], "🎂 Ada");
});

test("a file gets the settings with its id, and settings without a file are reported", async (t) => {
  const folder = await makeFolder(t, { "Our Family.ics": tomorrow("zoo") });
  const { titles, source } = await start(t, folder, {
    "our-family": { name: "Us", color: "#123456", private: true },
    club: { name: "The Club" },
  });

  assert.deepEqual(titles(), ["Busy"]);
  assert.deepEqual([source("our-family")?.name, source("our-family")?.color], ["Us", "#123456"]);
  assert.match(source("club")?.error ?? "", /there is no club\.ics/);
  await writeFile(join(folder, "club.ics"), tomorrow("match"));
  await until(() => source("club")?.status === "ok");
  await rm(join(folder, "club.ics"));
  await until(() => source("club")?.status === "error");
});

/** A calendar on a real server, which can be changed and taken away. */
async function serveCalendar(t: TestContext) {
  const served = { body: tomorrow("zoo"), status: 200, requests: 0 };
  const server = createServer((_, response) => {
    served.requests++;
    response.writeHead(served.status).end(served.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-address.ics`;
  return { served, feed: { name: "Club", url, color: "#123456", allowPrivate: true } };
}

test("a calendar on the web appears when it has been read, under its configured name and colour", async (t) => {
  const { feed } = await serveCalendar(t);

  const { titles, source, window } = await start(t, await makeFolder(t), { club: feed });
  await until(() => source("club")?.status === "ok");

  assert.deepEqual(titles(), ["zoo"]);
  assert.equal(window().events[0]?.color, "#123456");
  assert.equal(source("club")?.name, "Club");
});

test("an unreadable web calendar does not affect others, and its error shows no address", async (t) => {
  const { feed, served } = await serveCalendar(t);
  served.status = 500;
  const folder = await makeFolder(t, { "family.ics": tomorrow("park") });

  const { titles, source, running } = await start(t, folder, { club: feed });
  await until(() => source("club")?.error?.includes("500"));

  assert.equal(source("club")?.status, "error");
  assert.deepEqual(titles(), ["park"]);
  assert.doesNotMatch(JSON.stringify([running.logs, running.published]), /secret-address/);
});

test("the service returns windows far from today, including series", async (t) => {
  const yearly = calendar(
    event("UID:a", "DTSTART;VALUE=DATE:20000229", "RRULE:FREQ=YEARLY", "SUMMARY:leap"),
  );
  const { running } = await start(t, await makeFolder(t, { "family.ics": yearly }));

  const window = await running.call(calendarEvents, {
    start: "2048-01-01T00:00:00Z",
    end: "2049-01-01T00:00:00Z",
  });

  assert.deepEqual(
    window.events.map((each) => each.start),
    [{ date: "2048-02-29" }],
  );
  assert.equal(window.sources[0]?.id, "family");
});

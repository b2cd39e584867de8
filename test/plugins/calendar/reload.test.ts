import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { CalendarPart } from "@mantel/plugin-sdk/calendar";
import type { HostLink } from "../../../plugin-sdk/runtime/host-link.ts";
import { Runner } from "../../../plugin-sdk/runtime/runner.ts";
import plugin from "../../../plugins/calendar/index.ts";
import { emptyFolder, removeFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";
import { calendar, event } from "./calendar-text.ts";

const TODAY = new Date().toISOString().slice(0, 10).replaceAll("-", "");
const today = (title: string) =>
  calendar(event(`UID:${title}`, `DTSTART;VALUE=DATE:${TODAY}`, `SUMMARY:${title}`));

/** A generation of the plugin that has connected and not started, and what it has told its host. */
async function connected(t: TestContext, folder: string, sources: Record<string, object> = {}) {
  const said: string[] = [];
  const titles: string[] = [];
  const host = {
    async call(method: string, input: unknown) {
      said.push(method);
      if (method !== "publishCalendarPart") return;
      titles.push(...(input as CalendarPart).events.map(({ title }) => title));
    },
    notify: () => undefined,
  } as HostLink;
  const storage = await mkdtemp(join(tmpdir(), "mantel-calendar-"));
  const runner = new Runner(plugin, host);
  t.after(async () => {
    await runner.quiesce({ deadlineMs: 1_000 });
    await removeFolder(storage);
  });
  const request = {
    config: { refreshSeconds: 900, defaultDays: 14, sources },
    home: { locale: "en-GB", timeZone: "Europe/Berlin", pollSeconds: 30 },
    folders: { calendars: folder },
    storage,
    uses: [],
  };
  await runner.connect("calendar", request);
  return { said, titles, start: () => runner.start("calendar", request) };
}

test("during a reload files are read in connect and published at the start", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "family.ics"), today("zoo"));

  const { said, titles, start } = await connected(t, folder);
  assert.deepEqual(said, []);
  await start();

  assert.deepEqual(titles, ["zoo"]);
  // On a busy machine the window may be published again; the part is sent once.
  assert.deepEqual(said.slice(0, 2), ["publishCalendarPart", "publish"]);
  assert.ok(said.slice(2).every((method) => method === "publish"));
});

test("a file that changes between reading and start is published as it is", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "family.ics"), today("zoo"));

  const { titles, start } = await connected(t, folder);
  await writeFile(join(folder, "family.ics"), today("park"));
  await start();

  await until(() => titles.includes("park"));
});

test("web calendars are not read before the start, while the previous code still reads them", async (t) => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end(today("club"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/club.ics`;

  const { said, titles, start } = await connected(t, await emptyFolder(t), {
    club: { url, allowPrivate: true },
  });
  assert.deepEqual([requests, said], [0, []]);
  await start();
  await until(() => titles.includes("club"));

  assert.equal(requests, 1);
});

import assert from "node:assert/strict";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { followFolder } from "../../../plugins/calendar/files/folder.ts";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import type { Settings } from "../../../plugins/calendar/options.ts";
import type { Source } from "../../../plugins/calendar/source.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { onTestEnd } from "../../helpers/on-test-end.ts";
import { until } from "../../helpers/until.ts";
import { calendar, event } from "./calendar-text.ts";

const SMALL = calendar(event("UID:a", "DTSTART:20260601T090000Z"));
const LARGE = calendar(
  ...Array.from({ length: 30_000 }, (_, at) =>
    event(`UID:${at}`, "DTSTART:20260601T090000Z", `SUMMARY:${"x".repeat(150)}`),
  ),
);

/** A calendars folder with the folder `work` of these files, as its source shows it. */
async function work(
  t: TestContext,
  files: Record<string, string | Buffer>,
  settings: Settings = {},
) {
  const path = await emptyFolder(t);
  await mkdir(join(path, "work"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, "work", name), text);
  const sources = new Map<string, Source>();
  const { close: stop } = await followFolder({
    path,
    floating: UTC,
    locale: "en",
    isTaken: () => false,
    settings: new Map([["work", settings]]),
    add: (source) => sources.set(source.id, source),
    remove: (id) => sources.delete(id),
    changed: () => {},
    onFault: assert.ifError,
  });
  onTestEnd(t, stop);
  const source = sources.get("work");
  const { events = [] } = (await source?.prepare(YEAR)) ?? {};
  return { titles: events.map(({ title }) => title).toSorted(), view: source?.view() };
}

const YEAR = { from: Date.parse("2026-01-01"), to: Date.parse("2027-01-01") };
const titled = (title: string) =>
  calendar(event(`UID:${title}`, "DTSTART:20260601T090000Z", `SUMMARY:${title}`));
const cut = (title: string) => titled(title).subarray(0, -40);

test("a truncated file of a folder is named, and the other files are read", async (t) => {
  const files = { "a.ics": titled("zoo"), "b.ics": cut("x"), "c.ics": titled("pool"), "d.ics": "" };

  const { titles, view } = await work(t, files);

  assert.deepEqual(titles, ["pool", "zoo"]);
  assert.equal(view?.status, "ok");
  assert.equal(
    view.error,
    "2 files were left out: b.ics, d.ics; the first because: the calendar ends in the middle: END:VCALENDAR is missing",
  );
});

test("a truncated file that is read last is named, and the other file is read", async (t) => {
  const { titles, view } = await work(t, { "a.ics": titled("zoo"), "b.ics": cut("x") });

  assert.deepEqual(titles, ["zoo"]);
  assert.match(view?.error ?? "", /^1 file was left out: b\.ics;/);
});

test("a folder of events and contacts shows both, whichever comes first", async (t) => {
  const card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nBDAY:1996-04-15\r\nEND:VCARD\r\n";
  const files = { "b.ics": titled("zoo"), "c.ics": titled("pool") };

  const before = await work(t, { "a.vcf": card, ...files });
  const after = await work(t, { ...files, "d.vcf": card });

  assert.deepEqual(before.titles, ["pool", "zoo", "🎂 Ada (30)"]);
  assert.deepEqual(after.titles, before.titles);
  assert.deepEqual([after.view?.status, after.view?.error], ["ok", undefined]);
});

test("the files of a private folder are counted and not named", async (t) => {
  const files = { "a.ics": titled("zoo"), "secret.ics": cut("x") };

  const { view } = await work(t, files, { private: true });

  assert.equal(view?.error, "1 file was left out");
});

test("a folder with only broken files is an error", async (t) => {
  const { titles, view } = await work(t, { "a.ics": cut("x"), "b.ics": "<html>" });

  assert.deepEqual(titles, []);
  assert.equal(view?.status, "error");
  assert.match(
    view.error ?? "",
    /^2 files were left out: a.ics, b.ics; the first because: the calendar ends/,
  );
});

test("a slow file does not delay others and is shown as loading", async (t) => {
  const path = await emptyFolder(t);
  await writeFile(join(path, "a.ics"), LARGE);
  await writeFile(join(path, "z.ics"), SMALL);
  const sources = new Map<string, Source>();
  const seen: string[] = [];
  const status = (id: string) => sources.get(id)?.view().status;

  const { close: stop } = await followFolder({
    path,
    floating: UTC,
    locale: "en",
    isTaken: () => false,
    settings: new Map(),
    add: (source) => sources.set(source.id, source),
    remove: (id) => sources.delete(id),
    changed: () => seen.push(`a ${status("a")}, z ${status("z")}`),
    onFault: assert.ifError,
  });
  onTestEnd(t, stop);
  await until(() => status("a") === "ok");

  assert.deepEqual(seen, ["a error, z ok", "a ok, z ok"]);
});

/** The ids of the calendars in a folder that is followed. */
async function follow(t: TestContext, path: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const { close: stop } = await followFolder({
    path,
    floating: UTC,
    locale: "en",
    isTaken: () => false,
    settings: new Map(),
    add: ({ id }) => ids.add(id),
    remove: (id) => ids.delete(id),
    changed: () => undefined,
    onFault: assert.ifError,
  });
  onTestEnd(t, stop);
  return ids;
}

test("a folder that is removed and created again is watched again", async (t) => {
  const path = join(await emptyFolder(t), "calendars");
  const ids = await follow(t, path);
  await writeFile(join(path, "a.ics"), SMALL);
  await until(() => ids.has("a"));

  await rm(path, { recursive: true });
  await until(() => ids.size === 0);
  await mkdir(path);
  await writeFile(join(path, "b.ics"), SMALL);
  await until(() => ids.has("b"));
  await writeFile(join(path, "c.ics"), SMALL);

  await until(() => ids.has("c"));
  assert.deepEqual([...ids].toSorted(), ["b", "c"]);
});

test("a replaced folder is read again", async (t) => {
  const root = await emptyFolder(t);
  const path = join(root, "calendars");
  const ids = await follow(t, path);
  await writeFile(join(path, "a.ics"), SMALL);
  await until(() => ids.has("a"));

  await rename(path, join(root, "before"));
  await mkdir(path);
  await writeFile(join(path, "b.ics"), SMALL);
  await until(() => ids.has("b"));
  await writeFile(join(root, "before", "c.ics"), SMALL);
  await writeFile(join(path, "d.ics"), SMALL);

  await until(() => ids.has("d"));
  assert.deepEqual([...ids].toSorted(), ["b", "d"]);
});

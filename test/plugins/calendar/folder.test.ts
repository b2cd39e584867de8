import assert from "node:assert/strict";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { followFolder } from "../../../plugins/calendar/files/folder.ts";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import type { Source } from "../../../plugins/calendar/source.ts";
import { atEnd } from "../../helpers/at-end.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { until } from "../../helpers/until.ts";
import { calendar, event } from "./calendar-text.ts";

const SMALL = calendar(event("UID:a", "DTSTART:20260601T090000Z"));
const LARGE = calendar(
  ...Array.from({ length: 30_000 }, (_, at) =>
    event(`UID:${at}`, "DTSTART:20260601T090000Z", `SUMMARY:${"x".repeat(150)}`),
  ),
);

test("a file that takes long delays no other, and is shown as being read", async (t) => {
  const path = await emptyFolder(t);
  await writeFile(join(path, "a.ics"), LARGE);
  await writeFile(join(path, "z.ics"), SMALL);
  const sources = new Map<string, Source>();
  const seen: string[] = [];
  const status = (id: string) => sources.get(id)?.view().status;

  const stop = await followFolder({
    ...{ path, floating: UTC, locale: "en", isTaken: () => false, settings: new Map() },
    add: (source) => sources.set(source.id, source),
    remove: (id) => sources.delete(id),
    changed: () => seen.push(`a ${status("a")}, z ${status("z")}`),
    onFault: assert.ifError,
  });
  atEnd(t, stop);
  await until(() => status("a") === "ok");

  assert.deepEqual(seen, ["a error, z ok", "a ok, z ok"]);
});

/** The ids of the calendars in a folder that is followed. */
async function follow(t: TestContext, path: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const stop = await followFolder({
    ...{ path, floating: UTC, locale: "en", isTaken: () => false, settings: new Map() },
    add: ({ id }) => ids.add(id),
    remove: (id) => ids.delete(id),
    changed: () => undefined,
    onFault: assert.ifError,
  });
  atEnd(t, stop);
  return ids;
}

test("a folder that is removed and made again is followed again", async (t) => {
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

test("a folder that another one takes the place of is that one", async (t) => {
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

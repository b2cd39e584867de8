import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { NumberTable } from "../../../host/devices/numbers.ts";
import { recordedLog } from "./open-house.ts";

const HUE = { id: "hue-bridge", kind: "hue" };
const light = (nativeId: string) => ({ nativeId, kind: "light" });

async function openFolder(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "mantel-numbers-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "devices.json");
  const { log } = recordedLog();
  return { folder, path, open: () => NumberTable.open(path, log) };
}

test("numbers are counted for each bridge kind and kind of device", async (t) => {
  const { open } = await openFolder(t);
  const table = await open();

  const first = await table.assign(HUE, [light("a"), { nativeId: "b", kind: "plug" }, light("c")]);
  const other = await table.assign({ id: "hue-upstairs", kind: "hue" }, [light("a")]);

  assert.deepEqual(first, ["hue:light:1", "hue:plug:1", "hue:light:2"]);
  assert.deepEqual(other, ["hue:light:3"]);
});

test("a thing has the same id after a restart, and its number goes to nobody else", async (t) => {
  const { open } = await openFolder(t);
  await (await open()).assign(HUE, [light("a"), light("b")]);

  const table = await open();

  assert.deepEqual(await table.assign(HUE, [light("new"), light("b")]), [
    "hue:light:3",
    "hue:light:2",
  ]);
});

test("ids that come together are all on the disk when they are given", async (t) => {
  const { open, path } = await openFolder(t);
  const table = await open();

  const given = await Promise.all(
    Array.from({ length: 50 }, (_, n) => table.assign(HUE, [light(`lamp-${n}`)])),
  );

  const { ids } = JSON.parse(await readFile(path, "utf8"));
  assert.equal(new Set(given.flat()).size, 50);
  assert.deepEqual(Object.keys(ids).toSorted(), given.flat().toSorted());
});

test("an id that could not be written is written before it is given the next time", async (t) => {
  const { folder, open, path } = await openFolder(t);
  const table = await open();
  await rm(folder, { recursive: true });

  await assert.rejects(table.assign(HUE, [light("a")]), { code: "ENOENT" });
  await mkdir(folder);
  const ids = await table.assign(HUE, [light("a")]);

  assert.deepEqual(ids, ["hue:light:1"]);
  assert.ok(JSON.parse(await readFile(path, "utf8")).ids["hue:light:1"]);
});

test("a damaged table is set aside and the last good one goes on", async (t) => {
  const { folder, open, path } = await openFolder(t);
  await (await open()).assign(HUE, [light("a"), light("b")]);
  await writeFile(path, '{"version": 1, "ids": {"hue:li');

  const table = await open();

  assert.deepEqual(await table.assign(HUE, [light("b")]), ["hue:light:2"]);
  const names = await readdir(folder);
  assert.equal(names.filter((name) => name.startsWith("devices.json.damaged-")).length, 1);
});

test("a bridge that makes up new native ids for ever is refused", async (t) => {
  const { open } = await openFolder(t);
  const table = await open();
  await table.assign(
    HUE,
    Array.from({ length: 20_000 }, (_, n) => light(`made-up-${n}`)),
  );

  await assert.rejects(table.assign(HUE, [light("one more")]), { code: "invalid" });
  assert.deepEqual(await table.assign(HUE, [light("made-up-7")]), ["hue:light:8"]);
});

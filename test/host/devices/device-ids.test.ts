import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { DeviceIds } from "../../../host/devices/device-ids.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { recordedLog } from "./open-devices.ts";

const HUE = { id: "hue-bridge", kind: "hue" };
const light = (nativeId: string) => ({ nativeId, kind: "light" });

async function openFolder(t: TestContext) {
  const folder = await emptyFolder(t);
  const path = join(folder, "devices.json");
  const { log } = recordedLog();
  return { folder, path, open: () => DeviceIds.open(path, log) };
}

test("numbers are assigned per bridge kind and device kind", async (t) => {
  const { open } = await openFolder(t);
  const table = await open();

  const first = await table.assign(HUE, [light("a"), { nativeId: "b", kind: "plug" }, light("c")]);
  const other = await table.assign({ id: "hue-upstairs", kind: "hue" }, [light("a")]);

  assert.deepEqual(first, ["hue:light:1", "hue:plug:1", "hue:light:2"]);
  assert.deepEqual(other, ["hue:light:3"]);
});

test("a device keeps its id after a restart, and its number is never reused", async (t) => {
  const { open } = await openFolder(t);
  await (await open()).assign(HUE, [light("a"), light("b")]);

  const table = await open();

  assert.deepEqual(await table.assign(HUE, [light("new"), light("b")]), [
    "hue:light:3",
    "hue:light:2",
  ]);
});

test("a device whose kind becomes more exact keeps its id, also after a restart and when the kind changes back", async (t) => {
  const { open } = await openFolder(t);
  const kinds = (...all: string[]) => all.map((kind, at) => ({ nativeId: `d${at}`, kind }));
  const former = kinds("alarm", "switch", "thermostat", "cover", "sensor");
  const given = await (await open()).assign(HUE, former);

  const refined = kinds("siren", "valve", "air-conditioner", "valve", "lock");
  const table = await open();
  const kept = await table.assign(HUE, refined);

  assert.deepEqual(kept.slice(0, 3), given.slice(0, 3));
  assert.deepEqual(kept.slice(3), ["hue:valve:1", "hue:lock:1"]);
  assert.deepEqual(await (await open()).assign(HUE, refined), kept);
  assert.deepEqual((await table.assign(HUE, former)).slice(0, 3), given.slice(0, 3));
});

test("only the same module's device has the former id", async (t) => {
  const { open } = await openFolder(t);
  const table = await open();
  await table.assign(HUE, [{ nativeId: "a", kind: "switch" }]);

  const others = [
    ...(await table.assign(HUE, [{ nativeId: "b", kind: "valve" }])),
    ...(await table.assign({ id: "other", kind: "hue" }, [{ nativeId: "a", kind: "valve" }])),
    ...(await table.assign({ id: HUE.id, kind: "zigbee" }, [{ nativeId: "a", kind: "valve" }])),
  ];

  assert.deepEqual(others, ["hue:valve:1", "hue:valve:2", "zigbee:valve:1"]);
});

test("ids assigned together are all on the disk when they are returned", async (t) => {
  const { open, path } = await openFolder(t);
  const table = await open();

  const given = await Promise.all(
    Array.from({ length: 50 }, (_, n) => table.assign(HUE, [light(`lamp-${n}`)])),
  );

  const { ids } = JSON.parse(await readFile(path, "utf8"));
  assert.equal(new Set(given.flat()).size, 50);
  assert.deepEqual(Object.keys(ids).toSorted(), given.flat().toSorted());
});

test("an id that could not be saved is saved before it is used again", async (t) => {
  const { folder, open, path } = await openFolder(t);
  const table = await open();
  await rm(folder, { recursive: true });

  await assert.rejects(table.assign(HUE, [light("a")]), { code: "ENOENT" });
  await mkdir(folder);
  const ids = await table.assign(HUE, [light("a")]);

  assert.deepEqual(ids, ["hue:light:1"]);
  assert.ok(JSON.parse(await readFile(path, "utf8")).ids["hue:light:1"]);
});

test("a damaged table is set aside, and the last good one is used", async (t) => {
  const { folder, open, path } = await openFolder(t);
  await (await open()).assign(HUE, [light("a"), light("b")]);
  await writeFile(path, '{"version": 1, "ids": {"hue:li');

  const table = await open();

  assert.deepEqual(await table.assign(HUE, [light("b")]), ["hue:light:2"]);
  const names = await readdir(folder);
  assert.equal(names.filter((name) => name.startsWith("devices.json.damaged-")).length, 1);
});

test("a bridge that creates endless native ids is refused", async (t) => {
  const { open } = await openFolder(t);
  const table = await open();
  await table.assign(
    HUE,
    Array.from({ length: 20_000 }, (_, n) => light(`made-up-${n}`)),
  );

  await assert.rejects(table.assign(HUE, [light("one more")]), {
    code: "invalid",
    message: "hue-bridge has used 20000 ids; it must keep the native id of each device",
  });
  assert.deepEqual(await table.assign(HUE, [light("made-up-7")]), ["hue:light:8"]);
});

test("a new id beside known ones is stored, and known ones need no disk", async (t) => {
  const { folder, open, path } = await openFolder(t);
  const table = await open();
  await table.assign(HUE, [light("a")]);

  await table.assign(HUE, [light("a"), light("b")]);
  const { ids } = JSON.parse(await readFile(path, "utf8"));
  await rm(folder, { recursive: true });
  const again = await table.assign(HUE, [light("a"), light("b")]);

  assert.deepEqual(Object.keys(ids), ["hue:light:1", "hue:light:2"]);
  assert.deepEqual(again, ["hue:light:1", "hue:light:2"]);
});

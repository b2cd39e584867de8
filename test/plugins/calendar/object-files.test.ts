import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Storage } from "@mantel/plugin-sdk";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { type DavObject, ObjectFiles } from "../../../plugins/calendar/web/object-files.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const KEY = "feed-a";
const HEAD = { tag: "1", token: "1", fetchedAt: "2026-11-20T09:00:00.000Z" };
const COUNT = 1_000;
const object = (data: string): DavObject => ({ etag: data, data });
const MANY = new Map(
  Array.from({ length: COUNT }, (_, at) => [`/${at}.ics`, object(`object ${at}`)] as const),
);

async function setUp(t: TestContext) {
  const storage = createStorage(await emptyFolder(t), collectedLog());
  const written: string[] = [];
  let isFull = false;
  const watched: Storage = {
    ...storage,
    async set(key, value) {
      if (isFull && key !== KEY) throw new Error("disk full");
      written.push(key);
      await storage.set(key, value);
    },
  };
  const open = () => new ObjectFiles({ storage: watched, log: collectedLog(), key: KEY });
  const read = async () => {
    const found = new Map<string, DavObject>();
    const head = await open().read(async (objects) => {
      for (const [path, each] of objects) found.set(path, each);
    });
    return { head, found };
  };
  return { storage, written, open, read, fill: (full: boolean) => (isFull = full) };
}

test("a change of one of many objects writes only those near it", async (t) => {
  const { open, read, written } = await setUp(t);
  const files = open();
  await files.write(HEAD, MANY);
  written.length = 0;

  await files.write({ ...HEAD, token: "2" }, new Map([["/500.ics", object("changed")]]));

  assert.equal(written.length, 2);
  assert.equal(written.at(-1), KEY, "the head is written last");
  const { head, found } = await read();
  assert.equal(head?.token, "2");
  assert.deepEqual(found, new Map([...MANY, ["/500.ics", object("changed")]]));
});

test("removed objects are gone, and new ones take their room", async (t) => {
  const { open, read, storage } = await setUp(t);
  await open().write(HEAD, MANY);
  const files = open();
  await files.read(async () => {});
  const parts = ((await storage.get(KEY)) as { parts: string[] }).parts.length;

  await files.write(HEAD, new Map([["/7.ics", null]]));
  await files.write(HEAD, new Map([["/new.ics", object("new")]]));

  const { found } = await read();
  assert.deepEqual([found.size, found.has("/7.ics"), found.has("/new.ics")], [COUNT, false, true]);
  assert.equal(((await storage.get(KEY)) as { parts: string[] }).parts.length, parts);
});

test("objects that could not be stored are read again from the server after a restart", async (t) => {
  const { open, read, fill } = await setUp(t);
  const files = open();
  await files.write(HEAD, MANY);

  fill(true);
  await files.write({ ...HEAD, token: "2" }, new Map([["/1.ics", object("lost")]]));
  fill(false);
  await files.write({ ...HEAD, token: "3" }, new Map([["/2.ics", object("kept")]]));

  const { head, found } = await read();
  assert.deepEqual([head?.token, head?.tag], [undefined, undefined]);
  assert.equal(found.get("/2.ics")?.data, "kept");
});

test("a copy of a previous version, with all objects in one file, is read and written as parts", async (t) => {
  const { open, read, storage } = await setUp(t);
  await storage.set(KEY, { ...HEAD, objects: Object.fromEntries(MANY) });
  const files = open();
  await files.read(async () => {});

  await files.write(HEAD, new Map([["/1.ics", object("changed")]]));

  const { found } = await read();
  assert.equal(found.size, COUNT);
  assert.equal(found.get("/1.ics")?.data, "changed");
  assert.equal("objects" in ((await storage.get(KEY)) as object), false);
});

test("a forgotten object leaves no file", async (t) => {
  const { open, storage } = await setUp(t);
  const files = open();
  await files.write(HEAD, MANY);

  await files.forget();

  assert.equal(await storage.get(KEY), undefined);
  assert.equal(await storage.get(`${KEY}-0`), undefined);
});

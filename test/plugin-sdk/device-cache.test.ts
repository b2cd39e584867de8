import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { DeviceCache } from "@mantel/plugin-sdk";
import { DisposeScope } from "@mantel/plugin-sdk/dispose";
import { collectedLog } from "../helpers/collected-log.ts";

/** A cache that saves after a second, and its storage. */
function open(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const scope = new DisposeScope();
  const log = collectedLog();
  const disk = { isFull: false, writes: [] as unknown[] };
  const storage = {
    get: async () => disk.writes.at(-1),
    set: async (key: string, value: unknown) => {
      assert.equal(key, "devices");
      if (disk.isFull) throw new Error("disk full");
      disk.writes.push(value);
    },
    delete: async () => undefined,
  };
  const ctx = { storage, log, onDispose: scope.onDispose };
  const cache = new DeviceCache<string[]>(ctx, "devices", 1_000);
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    await new Promise(setImmediate);
  };
  return { cache, scope, log, disk, pass };
}

test("changes are saved together after the delay, as they are then", async (t) => {
  const { cache, disk, pass } = open(t);
  const devices = ["lamp"];

  cache.changed(() => devices);
  await pass(500);
  devices.push("plug");
  cache.changed(() => devices);
  assert.deepEqual(disk.writes, []);
  await pass(500);

  assert.deepEqual(await cache.read(), ["lamp", "plug"]);
  await pass(10_000);
  assert.equal(disk.writes.length, 1);
});

test("unsaved changes are saved at the end of the generation", async (t) => {
  const { cache, scope, disk, pass } = open(t);
  cache.changed(() => ["lamp"]);

  await scope.dispose();

  assert.deepEqual(disk.writes, [["lamp"]]);
  cache.changed(() => ["plug"]);
  await pass(10_000);
  assert.equal(disk.writes.length, 1);
});

test("without changes nothing is saved", async (t) => {
  const { cache, scope, disk } = open(t);

  assert.equal(await cache.read(), undefined);
  await cache.flush();
  await scope.dispose();

  assert.deepEqual(disk.writes, []);
});

test("a failed write is logged once and repeated every minute until it succeeds", async (t) => {
  const { cache, disk, log, pass } = open(t);
  disk.isFull = true;
  cache.changed(() => ["lamp"]);
  for (const ms of [1_000, 60_000, 60_000]) await pass(ms);
  assert.deepEqual(
    log.records.map(({ sentence }) => sentence),
    ["could not save the known devices"],
  );
  disk.isFull = false;

  await pass(59_000);
  assert.deepEqual(disk.writes, []);
  await pass(1_000);

  assert.deepEqual(disk.writes, [["lamp"]]);
});

test("a write that fails at the end leaves no timer", async (t) => {
  const { cache, scope, disk, pass } = open(t);
  disk.isFull = true;
  cache.changed(() => ["lamp"]);

  assert.deepEqual(await scope.dispose(), []);
  disk.isFull = false;
  await pass(60_000);

  assert.deepEqual(disk.writes, []);
});

test("a write that fails after a successful one is logged again, with its error", async (t) => {
  const { cache, disk, log, pass } = open(t);
  for (const isFull of [true, false, true]) {
    disk.isFull = isFull;
    cache.changed(() => ["lamp"]);
    await pass(60_000);
  }

  assert.deepEqual(
    log.records.map(({ fields }) => String(fields["error"])),
    ["Error: disk full", "Error: disk full"],
  );
});

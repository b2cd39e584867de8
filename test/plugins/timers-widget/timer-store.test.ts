import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clockText,
  restOf,
  STORAGE_KEY,
  TimerStore,
  type TimerStorage,
} from "../../../plugins/timers-widget/widget/timer-store.ts";

const MINUTE_MS = 60_000;

test("timers survive a reload, running and paused ones", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  const storage = storageOf();
  const store = new TimerStore(storage);
  store.start("Eggs", 5 * MINUTE_MS);
  store.start("Tea", 3 * MINUTE_MS);
  const [eggs] = store.timers.value;
  assert.ok(eggs);
  t.mock.timers.tick(MINUTE_MS);
  store.turn(eggs.id);
  t.mock.timers.tick(MINUTE_MS);

  const again = new TimerStore(storage);

  assert.deepEqual(restsOf(again), [
    ["Eggs", 4],
    ["Tea", 1],
  ]);
  again.turn(eggs.id);
  t.mock.timers.tick(MINUTE_MS);
  store.read();
  assert.deepEqual(
    restsOf(store),
    [
      ["Eggs", 3],
      ["Tea", 0],
    ],
    "another tile of the screen follows",
  );
});

test("a timer runs by the time of the home, so it is not over when the clock of the screen is set", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  let aheadMs = 0;
  const store = new TimerStore(undefined, () => Date.now() - aheadMs);
  store.start("eggs", 5 * MINUTE_MS);
  aheadMs = 60 * MINUTE_MS;
  t.mock.timers.setTime(1_000_000 + aheadMs);

  store.turn(store.timers.value[0]?.id ?? "");

  assert.equal(store.timers.value[0]?.restMs, 5 * MINUTE_MS);
});

test("a minute more is added to a running, a paused and an ended timer", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000 });
  const store = new TimerStore(undefined);
  for (const name of ["running", "paused", "over"]) store.start(name, MINUTE_MS * 2);
  const [running = "", paused = "", over = ""] = store.timers.value.map(({ id }) => id);
  store.turn(paused);
  store.extend(running, MINUTE_MS);
  store.extend(paused, MINUTE_MS);
  t.mock.timers.tick(4 * MINUTE_MS);
  store.extend(over, MINUTE_MS);

  assert.deepEqual(restsOf(store), [
    ["running", 0],
    ["paused", 3],
    ["over", 1],
  ]);
  store.remove(paused);
  assert.equal(store.timers.value.length, 2);
});

test("a screen has at most 20 timers of at most a day, and none of no length", () => {
  const store = new TimerStore(undefined);
  for (let count = 0; count < 25; count++) store.start("", 100 * 3_600_000);

  assert.equal(store.timers.value.length, 20);
  assert.equal(store.timers.value[0]?.durationMs, 24 * 3_600_000);
  const empty = new TimerStore(undefined);
  empty.start("nothing", 0);
  assert.deepEqual(empty.timers.value, []);
});

test("a storage that is forbidden, full, damaged or old leaves no timers behind, and new ones work", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 13 * 3_600_000 });
  const refuse = (): never => {
    throw new Error("the storage is forbidden");
  };
  const old = JSON.stringify([{ id: "a", name: "", durationMs: 1, endsAt: 1 }]);
  for (const storage of [
    { getItem: refuse, setItem: refuse },
    storageOf("{"),
    storageOf('{"a":1}'),
    storageOf('[null, {"id":"a","name":"","durationMs":"1"}]'),
    storageOf(old),
  ]) {
    const store = new TimerStore(storage);
    assert.deepEqual(store.timers.value, []);
    store.start("Tea", MINUTE_MS);
    assert.deepEqual(restsOf(store), [["Tea", 1]]);
  }
});

test("the remaining time is rounded up, so that it ends with zero", () => {
  assert.deepEqual([0, 1, 60_000, 245_001, 3_723_000].map(clockText), [
    "0:00",
    "0:01",
    "1:00",
    "4:06",
    "1:02:03",
  ]);
});

function restsOf(store: TimerStore): unknown[] {
  return store.timers.value.map((timer) => [timer.name, restOf(timer, Date.now()) / MINUTE_MS]);
}

function storageOf(text?: string): TimerStorage {
  const items = new Map(text === undefined ? [] : [[STORAGE_KEY, text]]);
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
  };
}

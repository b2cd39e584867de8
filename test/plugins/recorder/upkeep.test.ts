import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { HOUR_MS } from "../../../plugins/recorder/statistics.ts";
import { type Storage, StorageFull } from "../../../plugins/recorder/storage.ts";
import {
  batch,
  DAY_MS,
  entry,
  filled,
  maintainAll,
  MINUTE_MS,
  openHistory,
  ROW,
  START,
  values,
} from "../../helpers/recorder-history.ts";

const MANY = 60;
const LAST = MANY + 1;
const series = Array.from({ length: MANY }, (_, index) => ({
  ...ROW,
  id: index + 2, // the first one is in the history already
  field: `power${index}`,
}));
/** A value of each series. */
const all = (at: number, value: number) =>
  batch({
    points: {
      series: series.map(({ id }) => id),
      at: series.map(() => at),
      value: series.map(({ id }) => value + id),
    },
  });

/** Makes each slice of the regular work as short as it can be. */
function shortSlices(t: TestContext): void {
  let now = 0;
  t.mock.method(performance, "now", () => (now += 1_000));
}

/** Counts the calls of a method of the storage. */
function counted(storage: Storage, counts: { commits: number }): Storage {
  const commit = storage.commit.bind(storage);
  storage.commit = () => {
    counts.commits++;
    return commit();
  };
  return storage;
}

test("answers include what is not written yet, and write nothing", async (t) => {
  const counts = { commits: 0 };
  const { recorder, clock } = await openHistory(t, { wrap: (each) => counted(each, counts) });
  const before = counts.commits;
  const seen: unknown[] = [];
  for (let index = 0; index < 20; index++) {
    const at = START + index;
    await recorder.hold({ ...values([at, index]), entries: [entry(at)] });
    clock.now = at;
    const span = { series: 1, from: START, to: at + 1, points: 100 };
    const { points } = await recorder.curve(span);
    seen.push([points.at(-1)?.value, (await recorder.entries({ limit: 100 })).length]);
  }

  assert.deepEqual(
    seen,
    Array.from({ length: 20 }, (_, index) => [index, index + 1]),
  );
  assert.equal(counts.commits, before, "no answer waits for the disk");
});

test("entries that answers have read early are written with the next batch", async (t) => {
  const { recorder, start } = await openHistory(t);
  await recorder.hold({ ...values([START, 5]), entries: [entry(START)] });
  await recorder.entries({ limit: 1 });
  await recorder.hold(values([START + 1, 6]));
  await recorder.record(batch());
  await recorder.close();
  const next = start();
  t.after(() => next.close());

  assert.equal((await next.open()).series[0]?.value, 6);
  assert.equal((await next.entries({ limit: 9 })).length, 1);
});

test("values that a full disk refuses are stored once when there is room again", async (t) => {
  let isFull = false;
  const { recorder, start } = await openHistory(t, {
    wrap: (storage) => {
      const commit = storage.commit.bind(storage);
      storage.commit = () => {
        if (isFull) throw new StorageFull("the disk is full");
        return commit();
      };
      return storage;
    },
  });
  await recorder.hold({ ...values([START, 5]), entries: [entry(START)] });
  await recorder.entries({ limit: 1 });
  isFull = true;
  await recorder.record({ ...values([START + 1, 6]), entries: [entry(START + 1)] });
  assert.equal((await recorder.entries({ limit: 9 })).length, 2);
  isFull = false;
  await recorder.record(batch());
  await recorder.close();
  const next = start();
  t.after(() => next.close());
  await next.open();

  assert.equal((await next.entries({ limit: 9 })).length, 2);
  const span = { series: 1, from: START, to: START + 10, limit: 9 };
  assert.deepEqual(
    (await next.raw(span)).map(({ value }) => value),
    [5, 6],
  );
});

test("hours are closed and old reports are dropped in slices, between which batches are written", async (t) => {
  const counts = { commits: 0 };
  const { recorder, clock } = await openHistory(t, {
    retention: { rawDays: 1 },
    wrap: (each) => counted(each, counts),
  });
  await recorder.record(batch({ series }));
  await recorder.record(all(START, 0));
  clock.now = START + HOUR_MS + 2 * MINUTE_MS;
  await maintainAll(recorder, clock.now);
  shortSlices(t);
  clock.now = START + 3 * DAY_MS;
  await recorder.record(all(clock.now, 100));

  let slices = 0;
  const before = counts.commits;
  while (await recorder.maintain(clock.now)) {
    slices++;
    await recorder.record(all(clock.now + slices, 100 + slices));
  }

  assert.ok(slices >= MANY, `there were ${slices} slices`);
  assert.equal(counts.commits - before, 2 * slices + 1);
  const [first] = await recorder.raw({ series: LAST, from: 0, to: clock.now + 1, limit: 1 });
  assert.equal(first?.at, clock.now, "older reports are dropped");
});

test("a crash between two slices loses nothing, and counts nothing twice", async (t) => {
  const { recorder, start, file, folder, clock } = await openHistory(t);
  await recorder.record(batch({ series: series.map((row) => ({ ...row, isCounter: true })) }));
  const at = (hours: number): number => START + hours * HOUR_MS;
  await recorder.record(all(at(0.25), 100));
  await recorder.record(all(at(0.5), 107));
  shortSlices(t);
  clock.now = at(1.5);
  assert.ok(await recorder.maintain(clock.now), "the work was interrupted");

  const copy = join(folder, "copy.sqlite");
  await copyFile(file, copy);
  await copyFile(`${file}-wal`, `${copy}-wal`);
  const next = start(copy);
  t.after(() => next.close());
  await next.open();
  for (const id of [2, LAST]) {
    const span = { series: id, from: START, to: clock.now, limit: 9 };
    assert.deepEqual(
      (await next.raw(span)).map(({ value }) => value),
      [100 + id, 107 + id],
    );
  }
  await maintainAll(next, clock.now);

  for (const id of [2, LAST]) {
    const [stat] = await next.statistics({ series: id, bounds: [at(0), at(1)] });
    assert.deepEqual([stat?.sum, stat?.max], [7, 107 + id]);
    assert.equal((await next.raw({ series: id, from: 0, to: clock.now, limit: 9 })).length, 2);
  }
});

test("a slice that was not written is done again", async (t) => {
  let isFull = false;
  const { recorder, clock } = await openHistory(t, {
    wrap: (storage) => {
      const commit = storage.commit.bind(storage);
      storage.commit = () => {
        if (isFull) throw new StorageFull("the disk is full");
        return commit();
      };
      return storage;
    },
  });
  await recorder.record(values([START, 5]));
  await recorder.record(values([START + 1.5 * HOUR_MS, 6]));
  clock.now = START + 3 * HOUR_MS;
  isFull = true;
  await maintainAll(recorder, clock.now);
  isFull = false;
  await maintainAll(recorder, clock.now);

  const bounds = [0, 1, 2, 3].map((hour) => START + hour * HOUR_MS);
  const stats = await recorder.statistics({ series: 1, bounds });
  assert.deepEqual(
    stats.map((stat) => stat?.mean),
    [5, 5.5, 6],
  );
  assert.equal((await recorder.raw({ series: 1, from: 0, to: clock.now, limit: 9 })).length, 2);
});

test("a report that comes while its hour is closed is kept", async (t) => {
  const { recorder, start, clock } = await openHistory(t);
  await recorder.record(batch({ series }));
  await recorder.record(all(START, 0));
  shortSlices(t);
  clock.now = START + 1.5 * HOUR_MS;
  assert.ok(await recorder.maintain(clock.now));
  await recorder.record(all(START + MINUTE_MS, 50)); // the clock was set back
  while (await recorder.maintain(clock.now));
  await recorder.close();
  const next = start();
  t.after(() => next.close());
  await next.open();

  const span = { series: 2, from: START, to: clock.now, limit: 9 };
  assert.deepEqual(
    (await next.raw(span)).map(({ value }) => value),
    [2, 52],
  );
});

test("a file above its limit loses its oldest days within minutes, not once a day", async (t) => {
  const { recorder, clock } = await openHistory(t, { retention: { maxBytes: 200_000 } });
  await filled(recorder, clock, 2);
  assert.ok((await recorder.bytes()) < 200_000);
  await recorder.record(batch({ series }));
  for (let minute = 0; minute < 600; minute++)
    await recorder.record(all(clock.now + minute * 1_000, minute * 1.37));
  assert.ok((await recorder.bytes()) > 200_000, "it grew");
  clock.now += 2 * HOUR_MS;
  await maintainAll(recorder, clock.now);

  assert.ok((await recorder.bytes()) <= 200_000, `it has ${await recorder.bytes()} bytes`);
});

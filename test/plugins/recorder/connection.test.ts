import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { copyFile, open as openFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { SqliteDatabase } from "../../../plugins/recorder/sqlite-database.ts";
import { SqliteStorage } from "../../../plugins/recorder/sqlite.ts";
import { HOUR_MS } from "../../../plugins/recorder/statistics.ts";
import { StorageFull, StorageUnusable } from "../../../plugins/recorder/storage.ts";
import {
  batch,
  entry,
  filled,
  maintainAll,
  openHistory,
  START,
  values,
} from "../../helpers/recorder-history.ts";

const GARBAGE = "this is not a database ".repeat(1_000);

test("a damaged file is set aside, and an empty history with the known devices takes its place", async (t) => {
  const { recorder, start, file, folder, told } = await openHistory(t);
  await recorder.record(values([START, 5]));
  await recorder.close();
  await writeFile(file, GARBAGE);

  const next = start();
  t.after(() => next.close());
  const known = await next.open();

  assert.deepEqual(known.series, []);
  assert.match(
    told.join(),
    /the history was damaged; it is kept as .*history\.sqlite\.damaged-file/,
  );
  assert.ok((await readdir(folder)).includes("history.sqlite.damaged-file"));
});

test("damage that shows while it runs does not end the recording", async (t) => {
  let isDamaged = false;
  const { recorder, file, told } = await openHistory(t, {
    wrap: (storage) => {
      const append = storage.append.bind(storage);
      storage.append = (each) => {
        if (isDamaged) {
          isDamaged = false;
          void storage.end();
          writeFileSync(file, GARBAGE);
          SqliteStorage.open(file);
        }
        return append(each);
      };
      return storage;
    },
  });
  isDamaged = true;
  await recorder.record(values([START, 5]));
  await recorder.record(batch({ entries: [entry(START)] }));

  assert.match(told.join(), /damaged/);
  assert.equal((await recorder.entries({ limit: 1 }))[0]?.name, "Lamp");
});

test("a file of a newer version is not touched", async (t) => {
  const { recorder, start, file } = await openHistory(t);
  await recorder.close();
  const header = await openFile(file, "r+");
  await header.write(Buffer.from([0, 0, 0, 99]), 0, 4, 60); // user_version, by SQLite's file format
  await header.close();

  const next = start();
  await assert.rejects(next.open(), (error: Error) => {
    assert.ok(error instanceof StorageUnusable);
    assert.match(error.message, /newer version of Mantel/);
    return true;
  });
});

/** Locks a file as another program does, and returns what unlocks it. */
function locked(file: string, mode: "whole" | "for writing"): () => void {
  const other = SqliteDatabase.open(file, 0);
  if (mode === "whole") other.all("PRAGMA locking_mode = EXCLUSIVE");
  other.all("BEGIN EXCLUSIVE");
  other.run("DELETE FROM alive", []);
  return () => {
    other.all("ROLLBACK");
    other.all("PRAGMA locking_mode = NORMAL");
    other.all("SELECT * FROM alive"); // the next access takes the new mode
    other.end();
  };
}

test("a file that another program has locked is not opened, not set aside, and opened afterwards", async (t) => {
  const { recorder, start, file, folder } = await openHistory(t);
  await recorder.record(values([START, 5]));
  await recorder.close();
  const copy = join(folder, "copy.sqlite"); // libsql closes the file itself when it collects garbage
  await copyFile(file, copy);
  const unlock = locked(copy, "whole");
  const next = start(copy);
  t.after(() => next.close());

  await assert.rejects(next.open(), new StorageUnusable("another program locks the history"));
  unlock();

  assert.equal((await next.open()).series[0]?.value, 5);
  assert.ok(!(await readdir(folder)).some((name) => name.includes("damaged")));
});

test("while another program locks the file, reports wait in memory, with one warning", async (t) => {
  const { recorder, start, file, clock, told } = await openHistory(t);
  const unlock = locked(file, "for writing");
  await recorder.record(values([START, 5]));
  await recorder.record(values([START + 1, 6]));
  await maintainAll(recorder, START + 2);
  clock.now = START + 2;
  const request = { series: 1, from: START, to: START + 2, points: 10 };
  const meanwhile = await recorder.curve(request);
  const { length: warnings } = told;
  unlock();
  await maintainAll(recorder, START + 3);
  await recorder.close();
  const next = start();
  t.after(() => next.close());

  assert.deepEqual(
    meanwhile.points.map(({ value }) => value),
    [5, 6],
  );
  assert.deepEqual(
    [warnings, told],
    [2, ["another program locks the history", "another program locks the history", undefined]],
  );
  assert.equal((await next.open()).series[0]?.value, 6);
});

test("a lost database is opened again by the next query, with one warning", async (t) => {
  let isAway = false;
  const { recorder, clock, told } = await openHistory(t, {
    wrap: (storage) => {
      if (isAway) throw new StorageUnusable("the server is away");
      const entries = storage.entries.bind(storage);
      const alive = storage.alive.bind(storage);
      const refuse = (): void => {
        if (isAway) throw new StorageUnusable("the server is away");
      };
      storage.entries = (filter) => (refuse(), entries(filter));
      storage.alive = (now) => (refuse(), alive(now));
      return storage;
    },
  });
  await recorder.record(batch({ entries: [entry(START)] }));
  isAway = true;
  await assert.rejects(recorder.entries({ limit: 1 }), StorageUnusable);
  await assert.rejects(recorder.entries({ limit: 1 }), StorageUnusable);
  await maintainAll(recorder, clock.now);
  await maintainAll(recorder, clock.now);
  isAway = false;

  assert.equal((await recorder.entries({ limit: 1 })).length, 1);
  await maintainAll(recorder, clock.now);
  assert.deepEqual(told, ["the server is away", "the server is away", undefined]);
});

test("on a full disk the oldest reports are deleted, with one warning, and nothing is lost meanwhile", async (t) => {
  let writes = Infinity;
  const { recorder, clock, told, start } = await openHistory(t, {
    wrap: (storage) => {
      const append = storage.append.bind(storage);
      storage.append = (each) => {
        if (writes-- <= 0) throw new StorageFull("the disk is full");
        return append(each);
      };
      return storage;
    },
  });
  await filled(recorder, clock, 3);
  writes = 0;
  for (let index = 0; index < 5; index++) {
    await recorder.record(values([clock.now + index, index]));
  }
  const later = { series: 1, from: clock.now, to: clock.now + 100, points: 100 };
  assert.equal((await recorder.curve(later)).points.at(-1)?.value, 4, "it is known while it waits");
  assert.deepEqual(
    await recorder.raw({ series: 1, from: START, to: START + HOUR_MS, limit: 9 }),
    [],
  );
  writes = Infinity;
  await maintainAll(recorder, clock.now + 1_000);
  await recorder.close();
  const next = start();
  t.after(() => next.close());

  assert.equal((await next.open()).series[0]?.value, 4);
  const warnings = told.filter((each) => each?.includes("oldest reports are deleted"));
  assert.deepEqual([warnings.length, told.at(-1)], [1, undefined]);
});

test("while others fill the disk again and again there is one warning, and the history recovers when there is room", async (t) => {
  let isFull = false;
  let hasSpace = false;
  const { recorder, clock, told } = await openHistory(t, {
    wrap: (storage) => {
      const append = storage.append.bind(storage);
      storage.append = (each) => {
        if (isFull) throw new StorageFull("the disk is full");
        return append(each);
      };
      storage.reserve = () => hasSpace;
      storage.hasRoom = () => false;
      return storage;
    },
  });
  await filled(recorder, clock, 4);
  for (let wave = 0; wave < 3; wave++) {
    isFull = true;
    await recorder.record(values([clock.now + wave, wave]));
    isFull = false;
    await maintainAll(recorder, clock.now + 60_000 * wave);
  }
  const whileFull = [...told];
  hasSpace = true;
  await maintainAll(recorder, clock.now + 60_000 * 4);

  assert.deepEqual(whileFull, [
    "the disk is full; the oldest reports are deleted",
    "the disk is full; the history drops its oldest reports",
  ]);
  assert.equal(told.at(-1), undefined);
});

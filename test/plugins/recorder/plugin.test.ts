import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  historyLogbook,
  historyReadings,
  historyRecord,
  type MantelError,
} from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { recorderWith } from "../../../plugins/recorder/plugin.ts";
import { Recorder } from "../../../plugins/recorder/recorder.ts";
import {
  exportRoute,
  logbookRoute,
  readingsRoute,
  statisticsRoute,
} from "../../../plugins/recorder/routes.ts";
import { SqliteDatabase } from "../../../plugins/recorder/sqlite-database.ts";
import { SqliteStorage } from "../../../plugins/recorder/sqlite.ts";
import { StorageUnusable } from "../../../plugins/recorder/storage.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import {
  ANNA,
  CONFIG,
  LAMP,
  SENSOR,
  startRecorder as start,
} from "../../helpers/recorder-plugin.ts";

const DOOR = { kind: "device", id: "demo:binary-sensor:1", name: "Front door" } as const;

test("changes of numbers and of yes or no are readings at once", async (t) => {
  const { home, read } = await start(t);
  await home.change(SENSOR, { temperature: 21.5 });
  await home.change(LAMP, { on: true });

  const { device, field, unit, points, resolution } = await read({
    device: SENSOR,
    field: "temperature",
  });
  assert.deepEqual([device, field, unit, resolution], [SENSOR, "temperature", "°C", "raw"]);
  assert.deepEqual(
    points.map(({ value }) => value),
    [20, 21.5],
  );
  const lamp = await read({ device: LAMP, field: "on" });
  assert.deepEqual([lamp.unit, lamp.points.map(({ value }) => value)], [null, [0, 1]]);
});

test("a curve of one point has the minimum and maximum of the whole span", async (t) => {
  const { home, read, running } = await start(t);
  await home.change(SENSOR, { temperature: 21.5 });
  await home.change(SENSOR, { temperature: 19 });
  const query = { device: SENSOR, field: "temperature" };

  const { points } = await read({ ...query, points: "1" });
  const fromService = await running.call(historyReadings, { ...query, points: 1 });

  assert.deepEqual(
    points.map(({ min, max }) => [min, max]),
    [[19, 21.5]],
  );
  assert.equal(fromService.points.length, 1);
});

test("the logbook says what happened and why; measured numbers are not in it", async (t) => {
  const { home, logbook } = await start(t);
  await home.change(SENSOR, { temperature: 21.5 });
  await home.change(LAMP, { on: true, power: 40 }, ANNA);
  await home.change(LAMP, { brightness: 60 });

  const { entries, next } = await logbook();
  assert.deepEqual(
    entries.map(({ device, deviceName, room, kind, what, from, to, cause }) => [
      [device, deviceName, room, kind, what],
      [from, to, cause.kind],
    ]),
    [
      [
        [LAMP, "Lamp", "Hall", "state", "brightness"],
        [50, 60, "device"],
      ],
      [
        [LAMP, "Lamp", "Hall", "state", "on"],
        [false, true, "person"],
      ],
    ],
  );
  assert.equal(next, null);
  assert.equal((await logbook({ cause: "person:Anna" })).entries.length, 1);
  assert.equal((await logbook({ room: "Kitchen" })).entries.length, 0);
  const page = await logbook({ limit: "1" });
  assert.equal(page.entries[0]?.what, "brightness");
  assert.equal((await logbook({ limit: "1", cursor: page.next })).entries[0]?.what, "on");
});

test("invalid queries are refused with the place of the fault", async (t) => {
  const { running } = await start(t);
  const fault = async (query: object): Promise<unknown> => {
    const answer = running.request(readingsRoute, {
      query: { device: LAMP, field: "power", ...query },
    });
    const error = await answer.then(
      () => assert.fail(),
      (thrown: unknown) => thrown as MantelError,
    );
    return [error.code, error.extras.errors?.[0]?.pointer];
  };

  assert.deepEqual(await fault({ device: "demo:light:9" }), ["device_unknown", undefined]);
  assert.deepEqual(await fault({ field: "moisture" }), ["invalid", "/field"]);
  assert.deepEqual(await fault({ points: "0" }), ["invalid", "/points"]);
  assert.deepEqual(await fault({ points: "2001" }), ["invalid", "/points"]);
  assert.deepEqual(await fault({ from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z" }), [
    "invalid",
    "/from",
  ]);
});

test("services give the same, and other plugins write entries", async (t) => {
  const { running } = await start(t);
  const cause = { kind: "automation", id: "evening", name: "Evening" } as const;
  await running.call(historyRecord, { what: "backup.done", to: "3 MiB", cause });

  const { points } = await running.call(historyReadings, {
    device: SENSOR,
    field: "temperature",
    points: 10,
  });
  const { entries } = await running.call(historyLogbook, { cause: "automation" });

  assert.equal(points.at(-1)?.value, 20);
  assert.deepEqual(
    entries.map(({ kind, what, to, device }) => [kind, what, to, device]),
    [["record", "backup.done", "3 MiB", undefined]],
  );
});

test("statistics are given by local days; a sum only for counters", async (t) => {
  const { running } = await start(t);
  const query = { device: SENSOR, field: "temperature", period: "day" as const };
  const { json } = await running.request(statisticsRoute, { query });

  const { timeZone, statistics } = json as {
    timeZone: string;
    statistics: Record<string, unknown>[];
  };
  assert.equal(timeZone, "Europe/Berlin");
  assert.deepEqual(Object.keys(statistics.at(-1) ?? {}), ["from", "to", "min", "mean", "max"]);
});

test("the export has each report as CSV or as JSON lines", async (t) => {
  const { running, home } = await start(t);
  await home.change(LAMP, { power: 12.5 });
  const csv = await running.request(exportRoute, { query: { device: LAMP, field: "power" } });
  const lines = await running.request(exportRoute, { query: { device: LAMP, format: "jsonl" } });

  assert.match(
    csv.text ?? "",
    /^at,device,field,value,unit\n\S+Z,demo:light:1,power,0,W\n\S+,12\.5,W\n$/,
  );
  const rows = (lines.text ?? "")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { field: string });
  assert.deepEqual(rows.map(({ field }) => field).toSorted(), [
    "brightness",
    "on",
    "power",
    "power",
  ]);
});

test("a restart continues the history, and a removed device keeps it", async (t) => {
  const first = await start(t);
  await first.home.change(SENSOR, { temperature: 25 });
  await first.home.remove(LAMP);
  await first.running.stop();

  const { read, logbook } = await start(t, {}, first.history);

  const values = (await read({ device: SENSOR, field: "temperature" })).points.map(
    ({ value }) => value,
  );
  assert.deepEqual(values, [20, 25, 20]);
  assert.ok((await logbook({ device: LAMP })).entries.some(({ what }) => what === "removed"));
});

test("a device that the options exclude is not recorded", async (t) => {
  const { running } = await start(t, { devices: { [SENSOR]: { record: false } } });
  const query = { device: SENSOR, field: "temperature" };

  await assert.rejects(running.request(readingsRoute, { query }), { code: "device_unknown" });
});

test("while the file cannot be opened, the plugin runs, says why, and answers that it is not available", async (t) => {
  const broken = recorderWith(
    (_, notices) =>
      new Recorder(
        () => {
          throw new StorageUnusable("another program locks the history");
        },
        { rawDays: 1, logbookDays: 1, maxBytes: 1, exceptions: {} },
        notices,
      ),
  );
  const running = await startPlugin(broken, {
    config: CONFIG,
    folders: { history: await emptyFolder(t) },
  });
  t.after(() => running.stop());

  assert.equal(running.degraded, "another program locks the history");
  await assert.rejects(running.request(logbookRoute, {}), { code: "service_unavailable" });
});

test("an hour in which nothing happens writes at most twenty times", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let writes = 0;
  const quiet = recorderWith(({ file, retention }, notices) => {
    const storage = SqliteStorage.open(file);
    const alive = storage.alive.bind(storage);
    storage.alive = (now) => (writes++, alive(now));
    return new Recorder(() => storage, retention, notices);
  });
  const folders = { history: await emptyFolder(t) };
  const running = await startPlugin(quiet, { config: CONFIG, folders });
  t.after(() => running.stop());
  await running.request(logbookRoute, {}); // waits for the work of the start
  const before = writes;

  for (let minute = 0; minute < 60; minute++) {
    t.mock.timers.tick(60_000);
    await running.request(logbookRoute, {}); // waits for this minute's work
  }

  assert.ok(writes > before, "the recorder notes that it lives");
  assert.ok(writes - before <= 20, `it wrote ${writes - before} times`);
});

test("while the database is unreachable, queries are refused with a time to retry", async (t) => {
  let isAway = false;
  const folder = await emptyFolder(t);
  const away = recorderWith(({ file, retention }, notices) => {
    const open = (): SqliteStorage => {
      if (isAway) throw new StorageUnusable("PostgreSQL cannot be used: ECONNREFUSED");
      const storage = SqliteStorage.open(file);
      const entries = storage.entries.bind(storage);
      storage.entries = (filter) => {
        if (isAway) throw new StorageUnusable("PostgreSQL cannot be used: the connection ended");
        return entries(filter);
      };
      return storage;
    };
    return new Recorder(open, retention, notices);
  });
  const running = await startPlugin(away, { config: CONFIG, folders: { history: folder } });
  t.after(() => running.stop());
  isAway = true;

  const unavailable = { code: "service_unavailable", extras: { retryAfterMs: 30_000 } };
  await assert.rejects(running.request(logbookRoute, {}), unavailable);
  await assert.rejects(running.call(historyLogbook, {}), { code: "service_unavailable" });
  assert.match(running.degraded ?? "", /PostgreSQL cannot be used/);
  isAway = false;
  await running.request(logbookRoute, {});
});

test("causes keep their reasons and instants, and are stored once", async (t) => {
  const { running, home, logbook, history } = await start(t);
  const anna = (at: string) => ({ ...ANNA, at });
  const evening = (at: string) => ({
    ...({ kind: "automation", id: "evening", name: "Evening", at } as const),
    ...{ what: { type: "sun", values: { event: "sunset" } }, parent: DOOR },
  });
  const causes = [
    evening("2026-11-20T16:31:02.000Z"),
    evening("2026-11-21T16:30:07.250Z"),
    anna("2026-11-22T08:00:00.000Z"),
  ];
  for (const [index, cause] of causes.entries()) {
    await home.change(LAMP, { brightness: index }, cause);
    await logbook(); // ends the batch, within which changes are merged
  }

  const { entries } = await logbook();
  assert.deepEqual(
    entries.map(({ cause }) => cause),
    causes.toReversed(),
  );
  assert.equal((await logbook({ cause: "automation:Evening" })).entries.length, 2);
  await running.stop();
  const db = SqliteDatabase.open(join(history, "history.sqlite"), 1_000);
  assert.equal(db.all("SELECT * FROM cause").length, 2);
  db.end();
});

test("steps of a drag are one entry, although each has its own instant", async (t) => {
  const { home, logbook } = await start(t);
  for (let step = 0; step < 5; step++) {
    const at = new Date(Date.UTC(2026, 10, 20, 16, 31, step)).toISOString();
    await home.change(LAMP, { brightness: 60 + step }, { ...ANNA, at });
  }

  const { entries } = await logbook();
  assert.deepEqual(
    entries.map(({ from, to, cause }) => [from, to, cause.at]),
    [[50, 64, "2026-11-20T16:31:00.000Z"]],
  );
});

test("the logbook has commands that failed and scenes that were activated, with their causes", async (t) => {
  const { home, logbook } = await start(t);
  await home.fail(LAMP, { on: true }, { cause: ANNA });
  await home.activate("host:scene:movie", { status: "partial", cause: ANNA });

  const { entries } = await logbook({ cause: "person:Anna" });
  assert.deepEqual(
    entries.map(({ kind, device, what, from, cause }) => [kind, device, what, from, cause.name]),
    [
      ["scene", undefined, "partial", undefined, "Movie"],
      ["failed", LAMP, "deadline_passed", '{"on":true}', "Anna"],
    ],
  );
});

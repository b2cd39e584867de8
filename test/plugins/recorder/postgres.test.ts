import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Retention } from "../../../plugins/recorder/history.ts";
import { MIGRATIONS } from "../../../plugins/recorder/postgres-schema.ts";
import { PostgresStorage } from "../../../plugins/recorder/postgres.ts";
import { Recorder } from "../../../plugins/recorder/recorder.ts";
import { HOUR_MS } from "../../../plugins/recorder/statistics.ts";
import { type Batch, NOTHING_NEW, StorageUnusable } from "../../../plugins/recorder/storage.ts";
import { findPostgres, queryPostgres, startPostgres } from "../../helpers/postgres.ts";
import { maintainAll } from "../../helpers/recorder-history.ts";

const programs = await findPostgres();
const skip =
  programs === undefined && "PostgreSQL is not installed, or the tests do not run as root";
const RETENTION: Retention = { rawDays: 10, logbookDays: 90, maxBytes: Infinity, exceptions: {} };
const DAY_MS = 24 * HOUR_MS;
const START = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS;
const ROW = { id: 1, device: "demo:meter:1", field: "energy", unit: "kWh", isCounter: true };
const METER = { id: ROW.device, name: "Meter", room: "Cellar", kind: "sensor" };
const CAUSE = { kind: "person", id: "t1", name: "Anna" } as const;
const EVENING = { kind: "automation", id: "evening", name: "Evening", parent: CAUSE } as const;

/** A recorder in PostgreSQL, and its clock. */
function openRecorder(
  t: TestContext,
  connectionString: string,
  retention: Partial<Retention> = {},
) {
  const clock = { now: START };
  const notices = { warn: () => undefined, degraded: () => undefined };
  const recorder = new Recorder(
    () => PostgresStorage.open({ connectionString }),
    { ...RETENTION, ...retention },
    notices,
    () => clock.now,
  );
  t.after(() => recorder.close());
  return { recorder, clock };
}

const batch = (change: Partial<Batch> = {}): Batch => ({ ...NOTHING_NEW, ...change });

test(
  "a database of the first version keeps its reports, and gets the new tables",
  { skip },
  async (t) => {
    const connectionString = await startPostgres(t, programs ?? "");
    await queryPostgres(connectionString, MIGRATIONS[0] ?? "");
    await queryPostgres(
      connectionString,
      `INSERT INTO mantel.cause (hash, json, keys) VALUES ('', '${JSON.stringify(EVENING)}', '');
    INSERT INTO mantel.entry (at, kind, what, after_value, cause) VALUES (${START}, 'record', 'automation.run', '"failed"', 1);
    INSERT INTO mantel.series (id, device, field, is_counter) VALUES (1, 'demo:meter:1', 'energy', true);
    INSERT INTO mantel.reading VALUES (1, to_timestamp(${START / 1_000}), 7), (1, now() + interval '9 days', 8)`,
    );
    const storage = await PostgresStorage.open({ connectionString });
    t.after(() => storage.end());

    const [entry] = await storage.entries({ limit: 9 });
    assert.deepEqual([entry?.kind, entry?.what, entry?.to], ["run", "failed", null]);
    assert.deepEqual(await storage.runs({ limit: 9 }), []);
    const tomorrow = START + 3 * DAY_MS;
    const points = { series: [1, 1], at: [START + 1, tomorrow], value: [9, 10] };
    await storage.append(batch({ points }));
    await storage.commit();
    assert.deepEqual((await storage.load()).open.value, [7, 9, 10]);

    await storage.dropDays((tomorrow + DAY_MS) / HOUR_MS);
    await storage.commit();
    assert.deepEqual((await storage.load()).open.value, []);
  },
);

test(
  "days of reports are dropped as a whole, but not those of devices that keep them longer",
  { skip },
  async (t) => {
    const connectionString = await startPostgres(t, programs ?? "");
    const exceptions = { [METER.id]: 30 };
    const { recorder, clock } = openRecorder(t, connectionString, { exceptions });
    await recorder.open();
    const other = { ...ROW, id: 2, device: "demo:meter:2" };
    const at = [-20, -15, 0].map((day) => START + day * DAY_MS);
    const both = at.flatMap((instant) => [instant, instant]);
    const points = { series: both.map((_, index) => 1 + (index % 2)), at: both, value: both };
    await recorder.record(batch({ devices: [METER], series: [ROW, other], points }));
    clock.now = START + 2 * HOUR_MS;
    await maintainAll(recorder, clock.now);
    const days = async (series: number) =>
      (await recorder.raw({ series, from: at[0] ?? 0, to: clock.now, limit: 9 })).length;

    assert.deepEqual([await days(1), await days(2)], [3, 1]);
    clock.now += 15 * DAY_MS;
    await maintainAll(recorder, clock.now);
    const partitions =
      "SELECT count(*) FROM pg_inherits WHERE inhparent = 'mantel.reading'::regclass";
    assert.deepEqual([await days(1), await days(2)], [2, 0]);
    assert.equal(await queryPostgres(connectionString, partitions), "2\n");
  },
);

test(
  "a database above its limit loses its oldest days; other tables in it do not count",
  { skip },
  async (t) => {
    const connectionString = await startPostgres(t, programs ?? "");
    await queryPostgres(
      connectionString,
      "CREATE TABLE other AS SELECT repeat(md5(i::text), 50) FROM generate_series(1, 5000) AS i",
    );
    const { recorder, clock } = openRecorder(t, connectionString, { maxBytes: 2 ** 20 });
    await recorder.open();
    await recorder.record(batch({ series: [ROW] }));
    for (let day = 0; day < 4; day++) {
      const at = Array.from({ length: 5_000 }, (_, index) => START + day * DAY_MS + index * 10_000);
      await recorder.record(batch({ points: { series: at.map(() => 1), at, value: at } }));
    }
    assert.ok((await recorder.bytes()) > 2 ** 20);
    clock.now = START + 4 * DAY_MS;
    await maintainAll(recorder, clock.now);

    assert.ok((await recorder.bytes()) <= 2 ** 20);
    const [oldest] = await recorder.raw({ series: 1, from: START, to: clock.now, limit: 1 });
    assert.ok(oldest && oldest.at >= START + 2 * DAY_MS, String(oldest?.at));
  },
);

/** The functions of TimescaleDB that the history calls, with their signatures and results, on an ordinary table. */
const TIMESCALE = `
  INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    VALUES (99999, 'timescaledb', 10, 'public'::regnamespace, false, '2.17.0');
  CREATE TABLE hypertable (name regclass, chunk_interval interval);
  CREATE FUNCTION create_hypertable(relation regclass, time_column_name name, chunk_time_interval interval)
    RETURNS bigint LANGUAGE sql AS $$
      INSERT INTO public.hypertable VALUES (relation, chunk_time_interval) RETURNING 1::bigint $$;
  CREATE FUNCTION drop_chunks(relation regclass, older_than timestamptz) RETURNS SETOF text LANGUAGE plpgsql AS $$
    BEGIN
      EXECUTE format('DELETE FROM %s WHERE at < date_trunc(''day'', %L::timestamptz, ''UTC'')', relation, older_than);
      RETURN NEXT '_hyper_1_1_chunk';
    END $$;
`;

test(
  "with TimescaleDB reports are in a hypertable, whose old chunks are dropped",
  { skip },
  async (t) => {
    const connectionString = await startPostgres(t, programs ?? "", ["allow_system_table_mods=on"]);
    await queryPostgres(connectionString, TIMESCALE);
    const { recorder, clock } = openRecorder(t, connectionString);
    await recorder.open();
    const at = [-12, -11, 0].map((day) => START + day * DAY_MS);
    const points = { series: [1, 1, 1], at, value: at };
    await recorder.record(batch({ series: [ROW], points }));
    clock.now = START + 2 * HOUR_MS;
    await maintainAll(recorder, clock.now);

    const table = "SELECT name, chunk_interval FROM hypertable";
    assert.equal(await queryPostgres(connectionString, table), "mantel.reading|1 day\n");
    const span = { series: 1, from: START - 20 * DAY_MS, to: clock.now, limit: 9 };
    assert.equal((await recorder.raw(span)).length, 1);
  },
);

test("a history in PostgreSQL answers as one in a file", { skip }, async (t) => {
  const connectionString = await startPostgres(t, programs ?? "");
  const told: (string | undefined)[] = [];
  const notices = {
    warn: (sentence: string) => void told.push(sentence),
    degraded: (reason: string | undefined) => void told.push(reason),
  };
  const clock = { now: START };
  const start = () =>
    new Recorder(
      () => PostgresStorage.open({ connectionString }),
      RETENTION,
      notices,
      () => clock.now,
    );
  const recorder = start();
  await recorder.open();
  const at = [0, 0.5, 1.5, 2.5, 3.5].map((hours) => START + hours * HOUR_MS);
  const value = [10, 11, 13, NaN, 14];
  await recorder.record(
    batch({
      devices: [METER],
      series: [ROW],
      points: { series: at.map(() => 1), at, value },
      entries: [
        {
          at: START,
          kind: "state",
          device: METER.id,
          what: "on",
          from: "false",
          to: "true",
          cause: CAUSE,
        },
        {
          at: START + 1,
          kind: "event",
          device: null,
          what: "ran",
          from: null,
          to: null,
          cause: CAUSE,
        },
        {
          at: START - 1,
          kind: "availability",
          device: "demo:light:1",
          what: "available",
          from: "true",
          to: "false",
          cause: CAUSE,
        },
      ],
    }),
  );
  const run = { id: "run-1", automation: "evening", name: "Evening", at: START, cause: EVENING };
  const ended = { ...run, endedAt: START + 1, result: "failed", error: "no answer" } as const;
  await recorder.record(batch({ runs: [{ ...ended, trace: "{}" }] }));
  await recorder.record(batch({ runs: [{ ...ended, trace: '{"actions":[]}' }] }));
  clock.now = START + 4 * HOUR_MS;
  const span = { series: 1, from: START, to: clock.now };
  const before = await recorder.curve({ ...span, points: 100 });
  await maintainAll(recorder, clock.now - HOUR_MS / 2);
  await recorder.close();
  const next = start();
  t.after(() => next.close());

  await t.test("curves are the same before hours are closed and after a restart", async () => {
    const known = await next.open();
    assert.deepEqual(known.series, [{ ...ROW, value: 14 }]);
    assert.deepEqual(known.unreachable, ["demo:light:1"]);
    assert.deepEqual(
      before.points.map((point) => point.value),
      [10, 11, 13, null, 14],
    );
    assert.deepEqual(await next.curve({ ...span, points: 100 }), before);
    const coarse = await next.curve({ ...span, to: START + 2 * HOUR_MS, points: 2 });
    assert.deepEqual([coarse.resolution, coarse.points[1]?.max], ["1h", 13]);
    assert.equal((await next.raw({ ...span, limit: 10 })).length, 5);
  });

  await t.test("statistics have the increase of a counter", async () => {
    const bounds = [0, 1, 2, 3, 4].map((hour) => START + hour * HOUR_MS);
    const stats = await next.statistics({ series: 1, bounds });
    assert.deepEqual(
      stats.map((stat) => stat?.sum),
      [1, 2, 0, 1],
    );
  });

  await t.test("the logbook is filtered and paged", async () => {
    const [first] = await next.entries({ cause: "person:Anna", limit: 1 });
    assert.equal(first?.what, "ran");
    const rest = await next.entries({ room: "Cellar", after: first ?? { at: 0, id: 0 }, limit: 9 });
    assert.deepEqual(
      rest.map(({ what, name, to }) => [what, name, to]),
      [["on", "Meter", "true"]],
    );
  });

  await t.test("runs of automations are kept once, with their last trace", async () => {
    const runs = await next.runs({ automation: "evening", from: START, limit: 9 });
    assert.deepEqual(
      runs.map(({ id, name, result, trace, cause }) => [id, name, result, trace, cause]),
      [["run-1", "Evening", "failed", '{"actions":[]}', JSON.stringify(EVENING)]],
    );
    assert.deepEqual(await next.countRuns({}), {
      completed: 0,
      stopped: 0,
      failed: 1,
      cancelled: 0,
    });
  });

  await t.test("a lost connection is opened again, and nothing is lost meanwhile", async () => {
    await queryPostgres(
      connectionString,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL",
    );
    const points = { series: [1, 1], at: [clock.now, clock.now + 1], value: [15, 16] };
    await next.record(batch({ points }));
    await next.record(batch());

    const last = "SELECT value FROM mantel.reading ORDER BY at DESC LIMIT 2";
    assert.equal(await queryPostgres(connectionString, last), "16\n15\n");
    assert.match(told[0] ?? "", /PostgreSQL cannot be used/);
    assert.equal(told.at(-1), undefined);
  });

  await t.test("a query over a lost connection fails, and the next one is answered", async () => {
    await queryPostgres(
      connectionString,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL",
    );
    await assert.rejects(next.entries({ limit: 1 }), StorageUnusable);
    assert.equal((await next.entries({ limit: 1 })).length, 1);
  });

  await t.test("old reports are dropped, and a newer version is left alone", async () => {
    await maintainAll(next, clock.now + 20 * DAY_MS);
    assert.deepEqual(await next.raw({ ...span, limit: 10 }), []);
    await maintainAll(next, clock.now + 100 * DAY_MS);
    assert.deepEqual(await next.runs({ limit: 10 }), []);
    await queryPostgres(connectionString, "UPDATE mantel.version SET version = 99");
    await assert.rejects(start().open(), StorageUnusable);
  });
});

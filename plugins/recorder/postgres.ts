import type { ClientConfig } from "pg";
import type { Curve } from "./points.ts";
import { PostgresClient, type PostgresRow } from "./postgres-client.ts";
import { type Days, findDays } from "./postgres-readings.ts";
import { prepare } from "./postgres-schema.ts";
import { entryQuery, type Query, runCountQuery, runQuery, UNREACHABLE } from "./queries.ts";
import { figuresOf, nullIfUnknown, numberOf, textOf, toCounts, toEntry, toRun } from "./rows.ts";
import { HOUR_MS, type Stat, STEP_MS } from "./statistics.ts";
import {
  type Batch,
  type ClosedHour,
  type EntryFilter,
  type Loaded,
  type NewEntry,
  type NewRun,
  type RunCounts,
  type RunFilter,
  type RunPage,
  type Storage,
  type StoredEntry,
  type StoredHour,
  type StoredRun,
} from "./storage.ts";
import { timesOf, toStoredCause } from "./stored-cause.ts";

/** Entries and runs that are dropped in one step. */
const ENTRIES_AT_ONCE = 500;
const MOST_CAUSES = 1_000;
const AT = "(extract(epoch FROM at) * 1000)::float8 AS at";

/**
 * A history in PostgreSQL, in the schema `mantel`. Reports are rows, so that other programs can read them. Their table is
 * cut into days; where TimescaleDB is there, it is a hypertable.
 */
export class PostgresStorage implements Storage {
  readonly store = "postgres";
  readonly #client: PostgresClient;
  readonly #days: Days;
  /** Ids of causes by their JSON; those of an open transaction are among them. */
  readonly #causes = new Map<string, number>();

  /** @throws StorageUnusable if the server cannot be reached, or a newer Mantel has written there */
  static async open(config: ClientConfig): Promise<PostgresStorage> {
    const client = await PostgresClient.connect(config);
    try {
      await prepare(client);
      return new PostgresStorage(client, await findDays(client));
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  private constructor(client: PostgresClient, days: Days) {
    this.#client = client;
    this.#days = days;
  }

  async load(): Promise<Loaded> {
    const series = (await this.#client.all("SELECT * FROM series", [])).map((row) => ({
      id: Number(row["id"]),
      device: String(row["device"]),
      field: String(row["field"]),
      unit: textOf(row["unit"]),
      isCounter: row["is_counter"] === true,
      carry: { value: numberOf(row["carry_value"]), known: numberOf(row["carry_known"]) },
      closedHour: Number(row["closed_hour"]),
    }));
    const devices = (await this.#client.all(
      "SELECT * FROM device",
      [],
    )) as unknown as Loaded["devices"];
    const open = await this.#client.all(
      `SELECT s.id AS series, ${AT}, r.value FROM series s CROSS JOIN LATERAL (SELECT at, value FROM reading
        WHERE series = s.id AND at >= to_timestamp((s.closed_hour + 1) * 3600.0)) r ORDER BY r.at`,
    );
    const unreachable = await this.#client.all(UNREACHABLE);
    const [alive] = await this.#client.all("SELECT at FROM alive");
    return {
      devices,
      series,
      open: {
        series: open.map((row) => Number(row["series"])),
        at: open.map((row) => Math.round(Number(row["at"]))),
        value: open.map((row) => numberOf(row["value"])),
      },
      unreachable: unreachable.map((row) => String(row["device"])),
      aliveAt: alive && Number(alive["at"]),
    };
  }

  async append({ devices, series, points, runs, entries }: Batch): Promise<void> {
    await this.#client.begin();
    for (const { id, name, room, kind } of devices) {
      await this.#client.all(
        `INSERT INTO device VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE
          SET name = excluded.name, room = excluded.room, kind = excluded.kind`,
        [id, name, room, kind],
      );
    }
    for (const { id, device, field, unit, isCounter } of series) {
      await this.#client.all(
        `INSERT INTO series (id, device, field, unit, is_counter) VALUES ($1, $2, $3, $4, $5)
          ON CONFLICT (id) DO UPDATE SET unit = excluded.unit`,
        [id, device, field, unit, isCounter],
      );
    }
    if (points.at.length > 0) {
      await this.#days.prepare(points.at);
      await this.#client.all(
        `INSERT INTO reading SELECT series, to_timestamp(at / 1000.0), value
          FROM unnest($1::int[], $2::float8[], $3::float8[]) AS new (series, at, value)`,
        [points.series, points.at, points.value.map(nullIfUnknown)],
      );
    }
    for (const run of runs) await this.#insertRun(run);
    if (entries.length > 0) await this.#insertEntries(entries);
  }

  async #insertRun(run: NewRun): Promise<void> {
    const { id, automation, name, at, endedAt, result, error, cause, trace } = run;
    await this.#client.all(
      `INSERT INTO run (id, automation, name, at, ended_at, result, error, cause, trace)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at,
        result = excluded.result, error = excluded.error, trace = excluded.trace`,
      [id, automation, name, at, endedAt, result, error, await this.#causeId(cause), trace],
    );
  }

  async #insertEntries(entries: readonly NewEntry[]): Promise<void> {
    const causes: number[] = [];
    for (const { cause } of entries) causes.push(await this.#causeId(cause));
    const column = <T>(value: (entry: NewEntry) => T): T[] => entries.map(value);
    await this.#client.all(
      `INSERT INTO entry (at, kind, device, what, before_value, after_value, cause, times, run)
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[],
          $8::text[], $9::text[]) ON CONFLICT DO NOTHING`,
      [
        column(({ at }) => at),
        column(({ kind }) => kind),
        column(({ device }) => device),
        column(({ what }) => what),
        column(({ from }) => from),
        column(({ to }) => to),
        causes,
        column(({ cause, at }) => timesOf(cause, at)),
        column(({ run }) => run ?? null),
      ],
    );
  }

  commit(): Promise<void> {
    return this.#client.commit();
  }

  async rollback(): Promise<void> {
    this.#causes.clear();
    this.#days.forget();
    await this.#client.rollback();
  }

  async close(hour: number, closed: readonly ClosedHour[]): Promise<void> {
    await this.#client.begin();
    const five = closed.flatMap((each) => each.five.map((stat) => ({ series: each.series, stat })));
    await this.#client.all(
      `INSERT INTO five_minutes SELECT series, to_timestamp(at / 1000.0), min, mean, max, sum, known_ms
        FROM unnest($1::int[], $2::float8[], $3::float8[], $4::float8[], $5::float8[], $6::float8[], $7::float8[])
        AS new (series, at, min, mean, max, sum, known_ms) ON CONFLICT (series, at) DO UPDATE SET min = excluded.min,
        mean = excluded.mean, max = excluded.max, sum = excluded.sum, known_ms = excluded.known_ms`,
      [
        five.map(({ series }) => series),
        ...(["from", "min", "mean", "max", "sum", "knownMs"] as const).map((key) =>
          five.map(({ stat }) => stat[key]),
        ),
      ],
    );
    const figures = closed.map(({ stat }) => figuresOf(stat));
    await this.#client.all(
      `INSERT INTO hourly SELECT series, $2::int, to_timestamp($2::int * 3600.0), min, mean, max, sum, known_ms, last
        FROM unnest($1::int[], $3::float8[], $4::float8[], $5::float8[], $6::float8[], $7::float8[], $8::float8[])
        AS new (series, min, mean, max, sum, known_ms, last) ON CONFLICT (series, hour) DO UPDATE SET min = excluded.min,
        mean = excluded.mean, max = excluded.max, sum = excluded.sum, known_ms = excluded.known_ms, last = excluded.last`,
      [
        closed.map(({ series }) => series),
        hour,
        ...[0, 1, 2, 3, 4].map((column) => figures.map((row) => row[column])),
        closed.map(({ carry }) => nullIfUnknown(carry.value)),
      ],
    );
    const last = closed.filter(({ isLast }) => isLast);
    await this.#client.all(
      `UPDATE series SET carry_value = new.value, carry_known = new.known, closed_hour = $2::int
        FROM unnest($1::int[], $3::float8[], $4::float8[]) AS new (id, value, known) WHERE series.id = new.id`,
      [
        last.map(({ series }) => series),
        hour,
        last.map(({ carry }) => nullIfUnknown(carry.value)),
        last.map(({ carry }) => nullIfUnknown(carry.known)),
      ],
    );
  }

  /** Rows of reports stay where they are when their hour is closed. */
  lastRecent(): number {
    return 0;
  }

  dropRecent(): void {}

  async curves(series: number, fromHour: number, toHour: number) {
    const rows = await this.#client.all(
      `SELECT ${AT}, value FROM reading WHERE series = $1 AND at >= to_timestamp($2::int * 3600.0)
        AND at < to_timestamp(least($3::int, (SELECT closed_hour + 1 FROM series WHERE id = $1)) * 3600.0) ORDER BY reading.at`,
      [series, fromHour, toHour],
    );
    const hours = new Map<number, { at: number[]; value: number[] }>();
    for (const row of rows) {
      const at = Math.round(Number(row["at"]));
      const hour = Math.floor(at / HOUR_MS);
      const curve = hours.get(hour) ?? { at: [], value: [] };
      curve.at.push(at);
      curve.value.push(numberOf(row["value"]));
      hours.set(hour, curve);
    }
    return [...hours].map(([hour, curve]): { hour: number; curve: Curve } => ({ hour, curve }));
  }

  async hours(series: number, fromHour: number, toHour: number, step: "five" | "hour") {
    const values = [series, fromHour, toHour];
    const rows = await this.#client.all(
      "SELECT * FROM hourly WHERE series = $1 AND hour >= $2 AND hour < $3 ORDER BY hour",
      values,
    );
    const fine = new Map<number, Stat[]>();
    const five =
      step === "hour"
        ? []
        : await this.#client.all(
            `SELECT ${AT}, min, mean, max, sum, known_ms FROM five_minutes WHERE series = $1
              AND at >= to_timestamp($2::int * 3600.0) AND at < to_timestamp($3::int * 3600.0) ORDER BY five_minutes.at`,
            values,
          );
    for (const row of five) {
      const from = Math.round(Number(row["at"]));
      const hour = Math.floor(from / HOUR_MS);
      fine.set(hour, [...(fine.get(hour) ?? []), statOf(row, from, STEP_MS)]);
    }
    return rows.map((row): StoredHour => {
      const hour = Number(row["hour"]);
      const whole = row["max"] === null ? [] : [statOf(row, hour * HOUR_MS, HOUR_MS)];
      return { hour, stats: fine.get(hour) ?? whole, last: numberOf(row["last"]) };
    });
  }

  async lastBefore(series: number, hour: number): Promise<number | undefined> {
    const [row] = await this.#client.all(
      "SELECT last FROM hourly WHERE series = $1 AND hour < $2 ORDER BY hour DESC LIMIT 1",
      [series, hour],
    );
    return row && numberOf(row["last"]);
  }

  async entries(filter: EntryFilter): Promise<StoredEntry[]> {
    return (await this.#rows(entryQuery(filter))).map(toEntry);
  }

  async runs(page: RunPage): Promise<StoredRun[]> {
    return (await this.#rows(runQuery(page))).map((row) => toRun(row, String(row["trace"])));
  }

  async countRuns(filter: RunFilter): Promise<RunCounts> {
    return toCounts(await this.#rows(runCountQuery(filter)));
  }

  async dropDays(beforeHour: number): Promise<void> {
    await this.#client.begin();
    await this.#days.dropBefore(beforeHour * HOUR_MS);
  }

  /** Drops whole days, because those of most series are dropped by `dropDays`. */
  async dropCurves(series: number, beforeHour: number): Promise<void> {
    await this.#client.begin();
    const day = Math.floor(beforeHour / 24) * 24;
    await this.#client.all(
      "DELETE FROM reading WHERE series = $1 AND at < to_timestamp($2::int * 3600.0)",
      [series, day],
    );
  }

  async dropEntries(before: number): Promise<boolean> {
    await this.#client.begin();
    const drop = (table: "entry" | "run", key: string): Promise<PostgresRow[]> =>
      this.#client.all(
        `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE at < $1 ORDER BY at LIMIT ${ENTRIES_AT_ONCE})
          RETURNING 1`,
        [before],
      );
    const dropped = [...(await drop("entry", "id")), ...(await drop("run", "number"))];
    return dropped.length > 0;
  }

  async dropCauses(): Promise<void> {
    await this.#client.begin();
    this.#causes.clear();
    await this.#client.all(
      `DELETE FROM cause c WHERE NOT EXISTS (SELECT FROM entry WHERE cause = c.id)
        AND NOT EXISTS (SELECT FROM run WHERE cause = c.id)`,
    );
  }

  async oldestCurve(): Promise<number | undefined> {
    const [row] = await this.#client.all(`SELECT ${AT} FROM reading ORDER BY reading.at LIMIT 1`);
    return row && Math.floor(Number(row["at"]) / HOUR_MS);
  }

  async alive(now: number): Promise<void> {
    await this.#client.begin();
    await this.#client.all(
      "INSERT INTO alive VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET at = excluded.at",
      [now],
    );
  }

  /** The size of the tables with their indexes. */
  async bytes(): Promise<number> {
    const [row] = await this.#client.all(
      `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class
        WHERE relnamespace = 'mantel'::regnamespace AND relkind = 'r'`,
    );
    return Number(row?.["bytes"] ?? 0);
  }

  /** The server's disk is not this plugin's. */
  makeRoom(): void {}

  hasRoom(): boolean {
    return false;
  }

  reserve(): boolean {
    return true;
  }

  end(): Promise<void> {
    return this.#client.end();
  }

  async #causeId(cause: NewEntry["cause"]): Promise<number> {
    const { json, keys } = toStoredCause(cause);
    const known = this.#causes.get(json);
    if (known !== undefined) return known;
    const [row] = await this.#client.all(
      `INSERT INTO cause (hash, json, keys) VALUES (md5($1::text), $1, $2)
        ON CONFLICT (hash) DO UPDATE SET keys = excluded.keys RETURNING id`,
      [json, keys],
    );
    const id = Number(row?.["id"]);
    if (this.#causes.size >= MOST_CAUSES) this.#causes.clear();
    this.#causes.set(json, id);
    return id;
  }

  #rows({ sql, values }: Query): Promise<PostgresRow[]> {
    let index = 0;
    return this.#client.all(
      sql.replaceAll("?", () => `$${++index}`),
      values,
    );
  }
}

function statOf(row: PostgresRow, from: number, lengthMs: number): Stat {
  const [min, mean, max] = [numberOf(row["min"]), numberOf(row["mean"]), numberOf(row["max"])];
  const [sum, knownMs] = [numberOf(row["sum"]), numberOf(row["known_ms"])];
  return { from, to: from + lengthMs, min, mean, max, sum, knownMs };
}

import { Client, type ClientConfig } from "pg";
import type { Curve } from "./points.ts";
import { MIGRATIONS } from "./postgres-schema.ts";
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
  StorageUnusable,
} from "./storage.ts";
import { timesOf, toStoredCause } from "./stored-cause.ts";

const CONNECT_MS = 5_000;
const QUERY_MS = 60_000;
/** Reports that may not be in closed hours. */
const OPEN_DAYS = 2;

const AT = "(extract(epoch FROM at) * 1000)::float8 AS at";

type Row = Readonly<Record<string, unknown>>;

/**
 * A history in PostgreSQL, in the schema `mantel`. Reports are rows, so that other programs can read them; with
 * TimescaleDB their table is a hypertable.
 */
export class PostgresStorage implements Storage {
  readonly store = "postgres";
  readonly #client: Client;
  #lost: Error | undefined;

  /** @throws StorageUnusable if the server cannot be reached, or a newer Mantel has written there */
  static async open(config: ClientConfig): Promise<PostgresStorage> {
    const times = { connectionTimeoutMillis: CONNECT_MS, query_timeout: QUERY_MS };
    const storage = new PostgresStorage(new Client({ ...times, ...config }));
    try {
      await storage.#client.connect();
      await storage.#prepare();
    } catch (error) {
      await storage.#client.end().catch(() => undefined); // it was never connected
      throw toStorageError(error);
    }
    return storage;
  }

  private constructor(client: Client) {
    this.#client = client;
    client.on("error", (error) => (this.#lost = error));
  }

  async #prepare(): Promise<void> {
    const version = await this.#version();
    if (version > MIGRATIONS.length) {
      throw new StorageUnusable(
        "the history was written by a newer version of Mantel; update Mantel, or use another database",
      );
    }
    if (version < MIGRATIONS.length) await this.#write(() => this.#migrate(version));
    await this.#client.query("SET search_path TO mantel");
    if (version === 0) await this.#createHypertable();
  }

  /** The version of the tables; 0 if there are none. */
  async #version(): Promise<number> {
    const [found] = await this.#all("SELECT to_regclass('mantel.version') AS name", []);
    if (found?.["name"] === null) return 0;
    const [row] = await this.#all("SELECT version FROM mantel.version", []);
    return Number(row?.["version"]);
  }

  async #migrate(version: number): Promise<void> {
    for (const statements of MIGRATIONS.slice(version)) await this.#client.query(statements);
    await this.#all("UPDATE mantel.version SET version = $1", [MIGRATIONS.length]);
  }

  async #createHypertable(): Promise<void> {
    const isThere = "SELECT 1 FROM pg_available_extensions WHERE name = 'timescaledb'";
    if ((await this.#all(isThere, [])).length === 0) return;
    await this.#client.query("CREATE EXTENSION IF NOT EXISTS timescaledb");
    await this.#client.query("SELECT create_hypertable('mantel.reading', 'at')");
  }

  async load(): Promise<Loaded> {
    const series = (await this.#all("SELECT * FROM series", [])).map((row) => ({
      id: Number(row["id"]),
      device: String(row["device"]),
      field: String(row["field"]),
      unit: textOf(row["unit"]),
      isCounter: row["is_counter"] === true,
      carry: { value: numberOf(row["carry_value"]), known: numberOf(row["carry_known"]) },
      closedHour: Number(row["closed_hour"]),
    }));
    const devices = (await this.#all("SELECT * FROM device", [])) as unknown as Loaded["devices"];
    const open = await this.#all(
      `SELECT series, ${AT}, value FROM reading r WHERE at > now() - interval '${OPEN_DAYS} days'
        AND at >= (SELECT to_timestamp((closed_hour + 1) * 3600.0) FROM series WHERE id = r.series) ORDER BY r.at`,
      [],
    );
    const unreachable = await this.#all(UNREACHABLE, []);
    const [alive] = await this.#all("SELECT at FROM alive", []);
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

  append({ devices, series, points, runs, entries }: Batch): Promise<void> {
    return this.#write(async () => {
      for (const { id, name, room, kind } of devices) {
        await this.#all(
          `INSERT INTO device VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE
            SET name = excluded.name, room = excluded.room, kind = excluded.kind`,
          [id, name, room, kind],
        );
      }
      for (const { id, device, field, unit, isCounter } of series) {
        await this.#all(
          `INSERT INTO series (id, device, field, unit, is_counter) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (id) DO UPDATE SET unit = excluded.unit`,
          [id, device, field, unit, isCounter],
        );
      }
      if (points.at.length > 0) {
        await this.#all(
          `INSERT INTO reading SELECT series, to_timestamp(at / 1000.0), value
            FROM unnest($1::int[], $2::float8[], $3::float8[]) AS new (series, at, value)`,
          [points.series, points.at, points.value.map(nullIfUnknown)],
        );
      }
      for (const run of runs) await this.#insertRun(run);
      for (const entry of entries) await this.#insertEntry(entry);
    });
  }

  async #insertRun(run: NewRun): Promise<void> {
    const { id, automation, name, at, endedAt, result, error, cause, trace } = run;
    await this.#all(
      `INSERT INTO run (id, automation, name, at, ended_at, result, error, cause, trace)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at,
        result = excluded.result, error = excluded.error, trace = excluded.trace`,
      [id, automation, name, at, endedAt, result, error, await this.#causeId(cause), trace],
    );
  }

  async #insertEntry(entry: NewEntry): Promise<void> {
    const { at, kind, device, what, from, to, cause, run } = entry;
    const [id, times] = [await this.#causeId(cause), timesOf(cause, at)];
    await this.#all(
      `INSERT INTO entry (at, kind, device, what, before_value, after_value, cause, times, run)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
      [at, kind, device, what, from, to, id, times, run ?? null],
    );
  }

  close(hour: number, closed: readonly ClosedHour[]): Promise<void> {
    return this.#write(async () => {
      for (const { series, five, stat, carry, isLast } of closed) {
        for (const each of five) {
          await this.#all(
            `INSERT INTO five_minutes VALUES ($1, to_timestamp($2::float8 / 1000.0), $3, $4, $5, $6, $7)
              ON CONFLICT (series, at) DO UPDATE SET min = excluded.min, mean = excluded.mean, max = excluded.max,
              sum = excluded.sum, known_ms = excluded.known_ms`,
            [series, each.from, each.min, each.mean, each.max, each.sum, each.knownMs],
          );
        }
        await this.#all(
          `INSERT INTO hourly VALUES ($1, $2, to_timestamp($2::int * 3600.0), $3, $4, $5, $6, $7, $8)
            ON CONFLICT (series, hour) DO UPDATE SET min = excluded.min, mean = excluded.mean, max = excluded.max,
            sum = excluded.sum, known_ms = excluded.known_ms, last = excluded.last`,
          [series, hour, ...figuresOf(stat), nullIfUnknown(carry.value)],
        );
        if (!isLast) continue;
        await this.#all(
          "UPDATE series SET carry_value = $1, carry_known = $2, closed_hour = $3 WHERE id = $4",
          [nullIfUnknown(carry.value), nullIfUnknown(carry.known), hour, series],
        );
      }
    });
  }

  async curves(series: number, fromHour: number, toHour: number) {
    const rows = await this.#all(
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
    const rows = await this.#all(
      "SELECT * FROM hourly WHERE series = $1 AND hour >= $2 AND hour < $3 ORDER BY hour",
      values,
    );
    const fine = new Map<number, Stat[]>();
    const five =
      step === "hour"
        ? []
        : await this.#all(
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
    const [row] = await this.#all(
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

  async dropCurves(series: number, beforeHour: number): Promise<void> {
    await this.#all(
      "DELETE FROM reading WHERE series = $1 AND at < to_timestamp($2::int * 3600.0)",
      [series, beforeHour],
    );
  }

  async dropEntries(before: number): Promise<void> {
    await this.#all("DELETE FROM entry WHERE at < $1", [before]);
    await this.#all("DELETE FROM run WHERE ended_at < $1", [before]);
    await this.#all(
      `DELETE FROM cause c WHERE NOT EXISTS (SELECT FROM entry WHERE cause = c.id)
        AND NOT EXISTS (SELECT FROM run WHERE cause = c.id)`,
      [],
    );
  }

  async oldestCurve(): Promise<number | undefined> {
    const [row] = await this.#all(`SELECT ${AT} FROM reading ORDER BY reading.at LIMIT 1`, []);
    return row && Math.floor(Number(row["at"]) / HOUR_MS);
  }

  async alive(now: number): Promise<void> {
    await this.#all(
      "INSERT INTO alive VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET at = excluded.at",
      [now],
    );
  }

  async bytes(): Promise<number> {
    const [row] = await this.#all(
      "SELECT pg_database_size(current_database())::float8 AS bytes",
      [],
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

  async end(): Promise<void> {
    await this.#client.end();
  }

  async #causeId(cause: Batch["entries"][number]["cause"]): Promise<number> {
    const { json, keys } = toStoredCause(cause);
    const [row] = await this.#all(
      `INSERT INTO cause (hash, json, keys) VALUES (md5($1::text), $1, $2)
        ON CONFLICT (hash) DO UPDATE SET keys = excluded.keys RETURNING id`,
      [json, keys],
    );
    return Number(row?.["id"]);
  }

  /** Runs writes in one transaction. */
  async #write(work: () => Promise<unknown>): Promise<void> {
    await this.#all("BEGIN", []);
    try {
      await work();
      await this.#all("COMMIT", []);
    } catch (error) {
      await this.#client.query("ROLLBACK").catch(() => undefined); // the connection is lost
      throw error;
    }
  }

  #rows({ sql, values }: Query): Promise<Row[]> {
    let index = 0;
    return this.#all(
      sql.replaceAll("?", () => `$${++index}`),
      values,
    );
  }

  async #all(sql: string, values: readonly unknown[]): Promise<Row[]> {
    if (this.#lost) throw toStorageError(this.#lost);
    try {
      return (await this.#client.query<Row>(sql, [...values])).rows;
    } catch (error) {
      throw toStorageError(error);
    }
  }
}

function statOf(row: Row, from: number, lengthMs: number): Stat {
  const [min, mean, max] = [numberOf(row["min"]), numberOf(row["mean"]), numberOf(row["max"])];
  const [sum, knownMs] = [numberOf(row["sum"]), numberOf(row["known_ms"])];
  return { from, to: from + lengthMs, min, mean, max, sum, knownMs };
}

/** Faults of SQL stay as they are; everything else is the server's or the network's. */
function toStorageError(error: unknown): unknown {
  if (error instanceof StorageUnusable) return error;
  const { code = "", message } = error as { readonly code?: string; readonly message: string };
  const isFaultOfQuery = /^(22|23|42)/.test(code);
  if (isFaultOfQuery) return error;
  return new StorageUnusable(`PostgreSQL cannot be used: ${message}`, { cause: error });
}

import { Client, type ClientConfig } from "pg";
import { causeKeys, entryQuery, UNREACHABLE } from "./entries.ts";
import type { Curve } from "./points.ts";
import { figuresOf, nullIfUnknown, numberOf, textOf, toEntry } from "./rows.ts";
import { HOUR_MS, type Stat, STEP_MS } from "./statistics.ts";
import {
  type Batch,
  type ClosedHour,
  type EntryFilter,
  type Loaded,
  type Storage,
  type StoredEntry,
  type StoredHour,
  StorageUnusable,
} from "./storage.ts";

const VERSION = 1;
const CONNECT_MS = 5_000;
const QUERY_MS = 60_000;
/** Reports that may not be in closed hours. */
const OPEN_DAYS = 2;

const SCHEMA = `
  CREATE SCHEMA IF NOT EXISTS mantel;
  CREATE TABLE mantel.version (version int NOT NULL);
  INSERT INTO mantel.version VALUES (${VERSION});
  CREATE TABLE mantel.device (id text PRIMARY KEY, name text NOT NULL, room text, kind text NOT NULL);
  CREATE TABLE mantel.series (id int PRIMARY KEY, device text NOT NULL, field text NOT NULL, unit text,
    is_counter boolean NOT NULL, carry_value float8, carry_known float8, closed_hour int NOT NULL DEFAULT -1,
    UNIQUE (device, field));
  CREATE TABLE mantel.alive (id int PRIMARY KEY, at bigint NOT NULL);
  CREATE TABLE mantel.reading (series int NOT NULL, at timestamptz NOT NULL, value float8);
  CREATE INDEX reading_series ON mantel.reading (series, at);
  CREATE TABLE mantel.five_minutes (series int NOT NULL, at timestamptz NOT NULL, min float8, mean float8, max float8,
    sum float8 NOT NULL, known_ms float8 NOT NULL, PRIMARY KEY (series, at));
  CREATE TABLE mantel.hourly (series int NOT NULL, hour int NOT NULL, at timestamptz NOT NULL, min float8, mean float8,
    max float8, sum float8 NOT NULL, known_ms float8 NOT NULL, last float8, PRIMARY KEY (series, hour));
  CREATE TABLE mantel.cause (id serial PRIMARY KEY, hash text NOT NULL UNIQUE, json text NOT NULL, keys text NOT NULL);
  CREATE TABLE mantel.entry (id bigserial PRIMARY KEY, at bigint NOT NULL, kind text NOT NULL, device text,
    what text NOT NULL, before_value text, after_value text, cause int NOT NULL);
  CREATE INDEX entry_at ON mantel.entry (at, id);
  CREATE INDEX entry_device ON mantel.entry (device, at, id);
  CREATE INDEX entry_cause ON mantel.entry (cause, at, id);
  CREATE INDEX entry_reachable ON mantel.entry (device, id) WHERE kind IN ('availability', 'removed');
`;
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
    const [found] = await this.#all("SELECT to_regclass('mantel.version') AS name", []);
    if (found?.["name"] === null) {
      await this.#write(() => this.#client.query(SCHEMA));
      const isThere = "SELECT 1 FROM pg_available_extensions WHERE name = 'timescaledb'";
      if ((await this.#all(isThere, [])).length > 0) {
        await this.#client.query("CREATE EXTENSION IF NOT EXISTS timescaledb");
        await this.#client.query("SELECT create_hypertable('mantel.reading', 'at')");
      }
    }
    const [row] = await this.#all("SELECT version FROM mantel.version", []);
    if (Number(row?.["version"]) > VERSION) {
      throw new StorageUnusable(
        "the history was written by a newer version of Mantel; update Mantel, or use another database",
      );
    }
    await this.#client.query("SET search_path TO mantel");
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

  append({ devices, series, points, entries }: Batch): Promise<void> {
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
      for (const { at, kind, device, what, from, to, cause } of entries) {
        const id = await this.#causeId(cause);
        await this.#all(
          `INSERT INTO entry (at, kind, device, what, before_value, after_value, cause)
            VALUES ($1, $2, $3, $4, $5, $6, $7)`,
          [at, kind, device, what, from, to, id],
        );
      }
    });
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
    const { sql, values } = entryQuery(filter);
    let index = 0;
    return (
      await this.#all(
        sql.replaceAll("?", () => `$${++index}`),
        values,
      )
    ).map(toEntry);
  }

  async dropCurves(series: number, beforeHour: number): Promise<void> {
    await this.#all(
      "DELETE FROM reading WHERE series = $1 AND at < to_timestamp($2::int * 3600.0)",
      [series, beforeHour],
    );
  }

  async dropEntries(before: number): Promise<void> {
    await this.#all("DELETE FROM entry WHERE at < $1", [before]);
    await this.#all(
      "DELETE FROM cause c WHERE NOT EXISTS (SELECT FROM entry WHERE cause = c.id)",
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
    const json = JSON.stringify(cause);
    const [row] = await this.#all(
      `INSERT INTO cause (hash, json, keys) VALUES (md5($1::text), $1, $2)
        ON CONFLICT (hash) DO UPDATE SET keys = excluded.keys RETURNING id`,
      [json, causeKeys(cause)],
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

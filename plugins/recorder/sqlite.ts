import { deflateRawSync, inflateRawSync } from "node:zlib";
import {
  type Curve,
  PackedCurve,
  packPoints,
  type Points,
  unpackCurve,
  unpackPoints,
} from "./points.ts";
import { entryQuery, type Query, runCountQuery, runQuery, UNREACHABLE } from "./queries.ts";
import { freeReserve, reserveSpace } from "./reserve.ts";
import { figuresOf, nullIfUnknown, numberOf, textOf, toCounts, toEntry, toRun } from "./rows.ts";
import { SqliteDatabase, type SqliteRow } from "./sqlite-database.ts";
import { StatBlob } from "./stat-blob.ts";
import { HOUR_MS, hourOf, type Stat } from "./statistics.ts";
import type {
  Batch,
  ClosedHour,
  EntryFilter,
  Loaded,
  NewEntry,
  NewRun,
  RunCounts,
  RunFilter,
  RunPage,
  Storage,
  StoredEntry,
  StoredHour,
  StoredRun,
} from "./storage.ts";
import { timesOf, toStoredCause } from "./stored-cause.ts";

const BUSY_MS = 5_000;
/** Ids of hours are `series * HOURS + hour`, so that the hours of a series are beside each other. */
const HOURS = 2 ** 23;
const MOST_CAUSES = 1_000;
/** Entries and runs that are dropped in one step. */
const ENTRIES_AT_ONCE = 500;
/** Free pages in the file for some hours of a home with many reports. */
const ROOM_BYTES = 2 ** 20;

/**
 * A history in a SQLite file. A batch is one transaction, synced to the disk. Reports are kept as packed hours of one
 * field each, and until an hour is over as packed batches, because a row for each would be ten times as much to write.
 */
export class SqliteStorage implements Storage {
  readonly store = "sqlite";
  readonly #path: string;
  readonly #db: SqliteDatabase;
  /** Ids of causes by their JSON; those of an open transaction are among them. */
  readonly #causes = new Map<string, number>();

  /** Opens or creates the file. @throws as `SqliteDatabase.open` */
  static open(path: string, busyMs: number = BUSY_MS): SqliteStorage {
    const storage = new SqliteStorage(path, SqliteDatabase.open(path, busyMs));
    reserveSpace(path);
    return storage;
  }

  private constructor(path: string, db: SqliteDatabase) {
    this.#path = path;
    this.#db = db;
  }

  load(): Loaded {
    return this.#db.read(() => {
      const series = this.#db.all("SELECT * FROM series").map((row) => ({
        id: Number(row["id"]),
        device: String(row["device"]),
        field: String(row["field"]),
        unit: textOf(row["unit"]),
        isCounter: row["is_counter"] === 1,
        carry: { value: numberOf(row["carry_value"]), known: numberOf(row["carry_known"]) },
        closedHour: Number(row["closed_hour"]),
      }));
      const devices = this.#db.all("SELECT * FROM device").map((row) => ({
        id: String(row["id"]),
        name: String(row["name"]),
        room: textOf(row["room"]),
        kind: String(row["kind"]),
      }));
      const open = { series: [] as number[], at: [] as number[], value: [] as number[] };
      for (const row of this.#db.all("SELECT hour, data FROM recent ORDER BY id")) {
        const points = unpackPoints(Number(row["hour"]) * HOUR_MS, bytesOf(row["data"]));
        for (const [index, id] of points.series.entries()) {
          open.series.push(id);
          open.at.push(points.at[index] ?? 0);
          open.value.push(points.value[index] ?? NaN);
        }
      }
      const unreachable = this.#db.all(UNREACHABLE).map((row) => String(row["device"]));
      const [alive] = this.#db.all("SELECT at FROM alive");
      return { devices, series, open, unreachable, aliveAt: alive && Number(alive["at"]) };
    });
  }

  append({ devices, series, points, runs, entries }: Batch): void {
    this.#db.write(() => {
      for (const { id, name, room, kind } of devices) {
        this.#db.run(
          `INSERT INTO device VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
            SET name = excluded.name, room = excluded.room, kind = excluded.kind`,
          [id, name, room, kind],
        );
      }
      for (const { id, device, field, unit, isCounter } of series) {
        this.#db.run(
          `INSERT INTO series (id, device, field, unit, is_counter) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET unit = excluded.unit`,
          [id, device, field, unit, isCounter ? 1 : 0],
        );
      }
      for (const [hour, part] of byHour(points)) {
        const data = packPoints(hour * HOUR_MS, part);
        this.#db.run("INSERT INTO recent (hour, data) VALUES (?, ?)", [hour, data]);
      }
      for (const run of runs) this.#insertRun(run);
      for (const entry of entries) this.#insertEntry(entry);
    });
  }

  #insertRun(run: NewRun): void {
    const { id, automation, name, at, endedAt, result, error, cause, trace } = run;
    const packed = deflateRawSync(trace);
    this.#db.run(
      `INSERT INTO run (id, automation, name, at, ended_at, result, error, cause, trace)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at,
        result = excluded.result, error = excluded.error, trace = excluded.trace`,
      [id, automation, name, at, endedAt, result, error, this.#causeId(cause), packed],
    );
  }

  #insertEntry({ at, kind, device, what, from, to, cause, run }: NewEntry): void {
    this.#db.run(
      `INSERT INTO entry (at, kind, device, what, before_value, after_value, cause, times, run)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      [at, kind, device, what, from, to, this.#causeId(cause), timesOf(cause, at), run ?? null],
    );
  }

  commit(): void {
    this.#db.commit();
  }

  rollback(): void {
    this.#causes.clear();
    this.#db.rollback();
  }

  close(_hour: number, closed: readonly ClosedHour[]): void {
    this.#db.write(() => {
      for (const each of closed) this.#storeHour(each);
    });
  }

  lastRecent(): number {
    const [row] = this.#db.read(() => this.#db.all("SELECT max(id) AS id FROM recent"));
    return Number(row?.["id"] ?? 0);
  }

  dropRecent(hour: number, until: number): void {
    const values = [hour, until];
    this.#db.write(() => this.#db.run("DELETE FROM recent WHERE hour = ? AND id <= ?", values));
  }

  #storeHour({ series, hour, curve, five, stat, carry, isLast }: ClosedHour): void {
    const id = series * HOURS + hour;
    const packed = PackedCurve.of(hour * HOUR_MS, curve).bytes();
    this.#db.run("INSERT OR REPLACE INTO curve VALUES (?, ?)", [id, packed]);
    const isVaried =
      stat !== undefined && (stat.min < stat.max || stat.knownMs < HOUR_MS || stat.sum > 0);
    if (isVaried) {
      const blob = StatBlob.pack(hour * HOUR_MS, five);
      this.#db.run("INSERT OR REPLACE INTO five VALUES (?, ?)", [id, blob]);
    }
    this.#db.run("INSERT OR REPLACE INTO hourly VALUES (?, ?, ?, ?, ?, ?, ?)", [
      id,
      ...figuresOf(stat),
      nullIfUnknown(carry.value),
    ]);
    if (!isLast) return;
    this.#db.run(
      "UPDATE series SET carry_value = ?, carry_known = ?, closed_hour = ? WHERE id = ?",
      [nullIfUnknown(carry.value), nullIfUnknown(carry.known), hour, series],
    );
  }

  curves(series: number, fromHour: number, toHour: number): { hour: number; curve: Curve }[] {
    const rows = this.#range("curve", series, fromHour, toHour);
    return this.#db.read(() =>
      rows.map((row) => {
        const hour = hourIn(row);
        return { hour, curve: unpackCurve(hour * HOUR_MS, bytesOf(row["data"])) };
      }),
    );
  }

  hours(series: number, fromHour: number, toHour: number, step: "five" | "hour"): StoredHour[] {
    const five = step === "five" ? this.#range("five", series, fromHour, toHour) : [];
    const blobs = new Map(five.map((row) => [hourIn(row), bytesOf(row["data"])]));
    return this.#hourly(series, fromHour, toHour).map(
      ([id, min, mean, max, sum, knownMs, last]) => {
        const hour = Number(id) % HOURS;
        const blob = blobs.get(hour);
        const figures = {
          min: min ?? NaN,
          mean: mean ?? NaN,
          max: max ?? NaN,
          sum: sum ?? 0,
          knownMs: knownMs ?? 0,
        };
        const stats = blob ? StatBlob.unpack(hour * HOUR_MS, blob) : hourStat(hour, figures);
        return { hour, stats, last: last ?? NaN };
      },
    );
  }

  /** Rows as lists, which are read faster than objects: a year has 8,760. */
  #hourly(series: number, fromHour: number, toHour: number): (number | null)[][] {
    const sql =
      "SELECT id, min, mean, max, sum, known_ms, last FROM hourly WHERE id >= ? AND id < ? ORDER BY id";
    const base = series * HOURS;
    const values = [base + fromHour, base + toHour];
    return this.#db.read(() => this.#db.lists(sql, values) as (number | null)[][]);
  }

  lastBefore(series: number, hour: number): number | undefined {
    const [row] = this.#db.read(() =>
      this.#db.all("SELECT last FROM hourly WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1", [
        series * HOURS,
        series * HOURS + hour,
      ]),
    );
    return row && numberOf(row["last"]);
  }

  entries(filter: EntryFilter): StoredEntry[] {
    return this.#rows(entryQuery(filter)).map(toEntry);
  }

  runs(page: RunPage): StoredRun[] {
    return this.#rows(runQuery(page)).map((row) =>
      toRun(row, inflateRawSync(bytesOf(row["trace"])).toString("utf8")),
    );
  }

  countRuns(filter: RunFilter): RunCounts {
    return toCounts(this.#rows(runCountQuery(filter)));
  }

  dropCurves(series: number, beforeHour: number): void {
    const [from, to] = [series * HOURS, series * HOURS + beforeHour];
    this.#db.write(() => this.#db.run("DELETE FROM curve WHERE id >= ? AND id < ?", [from, to]));
  }

  /** Reports are dropped field by field. */
  dropDays(): void {}

  dropEntries(before: number): boolean {
    const drop = (table: "entry" | "run", key: string, time: string): number =>
      this.#db.run(
        `DELETE FROM ${table} WHERE ${key} IN
          (SELECT ${key} FROM ${table} WHERE ${time} < ? ORDER BY at LIMIT ${ENTRIES_AT_ONCE})`,
        [before],
      );
    let dropped = 0;
    this.#db.write(() => (dropped = drop("entry", "id", "at") + drop("run", "number", "at")));
    return dropped > 0;
  }

  dropCauses(): void {
    this.#db.write(() =>
      this.#db.run(
        "DELETE FROM cause WHERE id NOT IN (SELECT cause FROM entry) AND id NOT IN (SELECT cause FROM run)",
        [],
      ),
    );
    this.#causes.clear();
  }

  oldestCurve(): number | undefined {
    const ids = this.#db.read(() => this.#db.all("SELECT id FROM series"));
    const firsts = ids.flatMap(({ id }) => {
      const from = Number(id) * HOURS;
      return this.#db.all("SELECT id FROM curve WHERE id >= ? AND id < ? ORDER BY id LIMIT 1", [
        from,
        from + HOURS,
      ]);
    });
    return firsts.length === 0 ? undefined : Math.min(...firsts.map(hourIn));
  }

  alive(now: number): void {
    this.#db.write(() => this.#db.run("INSERT OR REPLACE INTO alive VALUES (1, ?)", [now]));
  }

  bytes(): number {
    return this.#db.read(() => this.#db.bytes());
  }

  makeRoom(): void {
    freeReserve(this.#path);
    this.#db.read(() => this.#db.all("PRAGMA wal_checkpoint(RESTART)"));
  }

  hasRoom(): boolean {
    return this.#db.read(() => this.#db.freeBytes()) >= ROOM_BYTES;
  }

  reserve(): boolean {
    return reserveSpace(this.#path);
  }

  end(): void {
    this.#db.end();
  }

  #causeId(cause: Batch["entries"][number]["cause"]): number {
    const { json, keys } = toStoredCause(cause);
    const known = this.#causes.get(json);
    if (known !== undefined) return known;
    this.#db.run("INSERT INTO cause (json, keys) VALUES (?, ?) ON CONFLICT (json) DO NOTHING", [
      json,
      keys,
    ]);
    const [row] = this.#db.all("SELECT id FROM cause WHERE json = ?", [json]);
    if (this.#causes.size >= MOST_CAUSES) this.#causes.clear();
    this.#causes.set(json, Number(row?.["id"]));
    return Number(row?.["id"]);
  }

  #range(table: string, series: number, fromHour: number, toHour: number): SqliteRow[] {
    const base = series * HOURS;
    return this.#db.read(() =>
      this.#db.all(`SELECT * FROM ${table} WHERE id >= ? AND id < ? ORDER BY id`, [
        base + fromHour,
        base + toHour,
      ]),
    );
  }

  #rows({ sql, values }: Query): SqliteRow[] {
    return this.#db.read(() => this.#db.all(sql, values));
  }
}

/** The values of each hour since 1970. */
function byHour({ series, at, value }: Points): Map<number, Points> {
  const hours = new Map<number, { series: number[]; at: number[]; value: number[] }>();
  for (const [index, instant] of at.entries()) {
    const hour = hourOf(instant);
    const part = hours.get(hour) ?? { series: [], at: [], value: [] };
    part.series.push(series[index] ?? 0);
    part.at.push(instant);
    part.value.push(value[index] ?? NaN);
    hours.set(hour, part);
  }
  return hours;
}

const hourIn = ({ id }: SqliteRow): number => Number(id) % HOURS;

/** The package returns blobs as one or the other. */
function bytesOf(value: unknown): Uint8Array {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Uint8Array);
}

function hourStat(hour: number, figures: Omit<Stat, "from" | "to">): Stat[] {
  if (Number.isNaN(figures.max)) return [];
  return [{ from: hour * HOUR_MS, to: (hour + 1) * HOUR_MS, ...figures }];
}

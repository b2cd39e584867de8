import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import Database from "libsql";
import { causeKeys, entryQuery, UNREACHABLE } from "./entries.ts";
import { type Curve, PackedCurve, packPoints, unpackCurve, unpackPoints } from "./points.ts";
import { toEntry } from "./rows.ts";
import { isDamage, setAside, toStorageError } from "./sqlite-errors.ts";
import { StatBlob } from "./stat-blob.ts";
import { HOUR_MS, hourOf, type Stat } from "./statistics.ts";
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
/** Small pages: a batch has some thousand bytes, and SQLite writes whole pages. */
const PAGE_BYTES = 1_024;
const BUSY_MS = 5_000;
/** A file that is deleted on a full disk, so that SQLite can drop something. */
const RESERVE_BYTES = 4 * 2 ** 20;
/** Ids of hours are `series * HOURS + hour`, so that the hours of a series are beside each other. */
const HOURS = 2 ** 23;
const MOST_CAUSES = 1_000;

const SCHEMA = `
  CREATE TABLE device (id TEXT PRIMARY KEY, name TEXT NOT NULL, room TEXT, kind TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE series (id INTEGER PRIMARY KEY, device TEXT NOT NULL, field TEXT NOT NULL, unit TEXT,
    is_counter INTEGER NOT NULL, carry_value REAL, carry_known REAL,
    closed_hour INTEGER NOT NULL DEFAULT -1, UNIQUE (device, field));
  CREATE TABLE alive (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  CREATE TABLE recent (id INTEGER PRIMARY KEY, hour INTEGER NOT NULL, data BLOB NOT NULL);
  CREATE TABLE curve (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
  CREATE TABLE five (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
  CREATE TABLE hourly (id INTEGER PRIMARY KEY, min REAL, mean REAL, max REAL, sum REAL NOT NULL,
    known_ms INTEGER NOT NULL, last REAL);
  CREATE TABLE cause (id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE, keys TEXT NOT NULL);
  CREATE TABLE entry (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, device TEXT, what TEXT NOT NULL,
    before_value TEXT, after_value TEXT, cause INTEGER NOT NULL);
  CREATE INDEX entry_at ON entry (at, id);
  CREATE INDEX entry_device ON entry (device, at, id);
  CREATE INDEX entry_cause ON entry (cause, at, id);
  PRAGMA user_version = ${VERSION};
`;

type Value = string | number | null | Uint8Array;
type Row = Readonly<Record<string, unknown>>;

/**
 * A history in a SQLite file. A batch is one transaction, synced to the disk. Reports are kept as packed hours of one
 * field each, and until an hour is over as packed batches, because a row for each would be ten times as much to write.
 */
export class SqliteStorage implements Storage {
  readonly store = "sqlite";
  readonly #path: string;
  readonly #statements = new Map<string, Database.Statement>();
  /** Ids of causes by their JSON. */
  readonly #causes = new Map<string, number>();
  readonly #db: Database.Database;

  /**
   * Opens or creates the file.
   * @throws StorageUnusable if another program locks it, or a newer Mantel has written it
   * @throws StorageDamaged after it set a damaged file aside; the next `open` creates an empty one
   */
  static open(path: string): SqliteStorage {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      return new SqliteStorage(path);
    } catch (error) {
      throw isDamage(error) ? setAside(path, error) : toStorageError(error);
    }
  }

  private constructor(path: string) {
    this.#path = path;
    this.#db = new Database(path);
    try {
      this.#prepare();
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  #prepare(): void {
    this.#db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    const version = this.#number("PRAGMA user_version", "user_version");
    if (version > VERSION) {
      throw new StorageUnusable(
        "the history was written by a newer version of Mantel; update Mantel, or move the folder history away",
      );
    }
    this.#db.exec(`PRAGMA page_size = ${PAGE_BYTES}`); // counts only for an empty file
    this.#all("PRAGMA journal_mode = WAL");
    this.#db.exec("PRAGMA synchronous = FULL"); // with NORMAL a power cut would lose all since the last checkpoint
    if (version === 0) this.#write(() => this.#db.exec(SCHEMA));
    else this.#all("SELECT count(*) FROM series");
    this.#reserve();
  }

  load(): Loaded {
    return this.#guarded(() => {
      const series = this.#all("SELECT * FROM series").map((row) => ({
        id: Number(row["id"]),
        device: String(row["device"]),
        field: String(row["field"]),
        unit: textOf(row["unit"]),
        isCounter: row["is_counter"] === 1,
        carry: { value: numberOf(row["carry_value"]), known: numberOf(row["carry_known"]) },
        closedHour: Number(row["closed_hour"]),
      }));
      const devices = this.#all("SELECT * FROM device").map((row) => ({
        id: String(row["id"]),
        name: String(row["name"]),
        room: textOf(row["room"]),
        kind: String(row["kind"]),
      }));
      const open = { series: [] as number[], at: [] as number[], value: [] as number[] };
      for (const row of this.#all("SELECT hour, data FROM recent ORDER BY id")) {
        const points = unpackPoints(Number(row["hour"]) * HOUR_MS, bytesOf(row["data"]));
        for (const [index, id] of points.series.entries()) {
          open.series.push(id);
          open.at.push(points.at[index] ?? 0);
          open.value.push(points.value[index] ?? NaN);
        }
      }
      const unreachable = this.#all(UNREACHABLE).map((row) => String(row["device"]));
      const [alive] = this.#all("SELECT at FROM alive");
      return { devices, series, open, unreachable, aliveAt: alive && Number(alive["at"]) };
    });
  }

  append({ devices, series, points, entries }: Batch): void {
    this.#write(() => {
      for (const { id, name, room, kind } of devices) {
        this.#run(
          `INSERT INTO device VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
            SET name = excluded.name, room = excluded.room, kind = excluded.kind`,
          [id, name, room, kind],
        );
      }
      for (const { id, device, field, unit, isCounter } of series) {
        this.#run(
          `INSERT INTO series (id, device, field, unit, is_counter) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET unit = excluded.unit`,
          [id, device, field, unit, isCounter ? 1 : 0],
        );
      }
      for (const [hour, part] of byHour(points)) {
        const data = packPoints(hour * HOUR_MS, part);
        this.#run("INSERT INTO recent (hour, data) VALUES (?, ?)", [hour, data]);
      }
      for (const entry of entries) {
        const { at, kind, device, what, from, to, cause } = entry;
        this.#run(
          `INSERT INTO entry (at, kind, device, what, before_value, after_value, cause)
            VALUES (?, ?, ?, ?, ?, ?, ?)`,
          [at, kind, device, what, from, to, this.#causeId(cause)],
        );
      }
    });
  }

  close(hour: number, closed: readonly ClosedHour[]): void {
    this.#write(() => {
      for (const each of closed) this.#storeHour(each);
      this.#run("DELETE FROM recent WHERE hour = ?", [hour]);
    });
  }

  #storeHour({ series, hour, curve, five, stat, carry, isLast }: ClosedHour): void {
    const id = series * HOURS + hour;
    const packed = PackedCurve.of(hour * HOUR_MS, curve).bytes();
    this.#run("INSERT OR REPLACE INTO curve VALUES (?, ?)", [id, packed]);
    const isVaried =
      stat !== undefined && (stat.min < stat.max || stat.knownMs < HOUR_MS || stat.sum > 0);
    if (isVaried) {
      const blob = StatBlob.pack(hour * HOUR_MS, five);
      this.#run("INSERT OR REPLACE INTO five VALUES (?, ?)", [id, blob]);
    }
    this.#run("INSERT OR REPLACE INTO hourly VALUES (?, ?, ?, ?, ?, ?, ?)", [
      id,
      stat?.min ?? null,
      stat?.mean ?? null,
      stat?.max ?? null,
      stat?.sum ?? 0,
      Math.round(stat?.knownMs ?? 0),
      nullIfUnknown(carry.value),
    ]);
    if (!isLast) return;
    this.#run("UPDATE series SET carry_value = ?, carry_known = ?, closed_hour = ? WHERE id = ?", [
      nullIfUnknown(carry.value),
      nullIfUnknown(carry.known),
      hour,
      series,
    ]);
  }

  curves(series: number, fromHour: number, toHour: number): { hour: number; curve: Curve }[] {
    const rows = this.#range("curve", series, fromHour, toHour);
    return this.#guarded(() =>
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
    return this.#guarded(
      () =>
        this.#statement(sql)
          .raw()
          .all([base + fromHour, base + toHour]) as (number | null)[][],
    );
  }

  lastBefore(series: number, hour: number): number | undefined {
    const [row] = this.#guarded(() =>
      this.#all("SELECT last FROM hourly WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1", [
        series * HOURS,
        series * HOURS + hour,
      ]),
    );
    return row && numberOf(row["last"]);
  }

  entries(filter: EntryFilter): StoredEntry[] {
    const { sql, values } = entryQuery(filter);
    return this.#guarded(() => this.#all(sql, values)).map(toEntry);
  }

  dropCurves(series: number, beforeHour: number): void {
    const [from, to] = [series * HOURS, series * HOURS + beforeHour];
    this.#write(() => this.#run("DELETE FROM curve WHERE id >= ? AND id < ?", [from, to]));
  }

  dropEntries(before: number): void {
    this.#write(() => {
      this.#run("DELETE FROM entry WHERE at < ?", [before]);
      this.#run("DELETE FROM cause WHERE id NOT IN (SELECT cause FROM entry)", []);
    });
    this.#causes.clear();
  }

  oldestCurve(): number | undefined {
    const ids = this.#guarded(() => this.#all("SELECT id FROM series"));
    const firsts = ids.flatMap(({ id }) => {
      const from = Number(id) * HOURS;
      return this.#all("SELECT id FROM curve WHERE id >= ? AND id < ? ORDER BY id LIMIT 1", [
        from,
        from + HOURS,
      ]);
    });
    return firsts.length === 0 ? undefined : Math.min(...firsts.map(hourIn));
  }

  alive(now: number): void {
    this.#write(() => this.#run("INSERT OR REPLACE INTO alive VALUES (1, ?)", [now]));
  }

  bytes(): number {
    const pages = this.#number("PRAGMA page_count", "page_count");
    const free = this.#number("PRAGMA freelist_count", "freelist_count");
    const wal = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return (pages - free) * this.#number("PRAGMA page_size", "page_size") + wal;
  }

  makeRoom(): void {
    rmSync(`${this.#path}-reserve`, { force: true });
    this.#guarded(() => this.#all("PRAGMA wal_checkpoint(RESTART)"));
  }

  /** Puts the reserve back, if there is room. */
  #reserve(): void {
    const path = `${this.#path}-reserve`;
    if (existsSync(path)) return;
    try {
      const file = openSync(path, "w", 0o600);
      try {
        const zeros = Buffer.alloc(RESERVE_BYTES);
        if (writeSync(file, zeros) < RESERVE_BYTES) ftruncateSync(file, 0);
      } finally {
        closeSync(file);
      }
    } catch {
      rmSync(path, { force: true }); // the disk is full
    }
  }

  end(): void {
    this.#statements.clear();
    try {
      this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // the file is damaged, or the disk is full
    }
    this.#db.close();
  }

  #causeId(cause: Batch["entries"][number]["cause"]): number {
    const json = JSON.stringify(cause);
    const known = this.#causes.get(json);
    if (known !== undefined) return known;
    this.#run("INSERT INTO cause (json, keys) VALUES (?, ?) ON CONFLICT (json) DO NOTHING", [
      json,
      causeKeys(cause),
    ]);
    const [row] = this.#all("SELECT id FROM cause WHERE json = ?", [json]);
    if (this.#causes.size >= MOST_CAUSES) this.#causes.clear();
    this.#causes.set(json, Number(row?.["id"]));
    return Number(row?.["id"]);
  }

  #range(table: string, series: number, fromHour: number, toHour: number): Row[] {
    const base = series * HOURS;
    return this.#guarded(() =>
      this.#all(`SELECT * FROM ${table} WHERE id >= ? AND id < ? ORDER BY id`, [
        base + fromHour,
        base + toHour,
      ]),
    );
  }

  /** Runs writes in one transaction. */
  #write(work: () => void): void {
    this.#guarded(() => {
      this.#db.exec("BEGIN IMMEDIATE");
      try {
        work();
        this.#db.exec("COMMIT");
      } catch (error) {
        this.#causes.clear();
        if (this.#db.inTransaction) this.#db.exec("ROLLBACK"); // some errors have ended it
        throw error;
      }
    });
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isDamage(error)) throw toStorageError(error);
      this.end();
      throw setAside(this.#path, error);
    }
  }

  #statement(sql: string): Database.Statement {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  #run(sql: string, values: readonly Value[]): void {
    this.#statement(sql).run(values); // a single value that is not in a list would count as named ones
  }

  #all(sql: string, values: readonly Value[] = []): Row[] {
    return this.#statement(sql).all(values) as Row[];
  }

  #number(sql: string, name: string): number {
    const [row] = this.#guarded(() => this.#all(sql));
    return Number(row?.[name] ?? 0);
  }
}

function byHour({ series, at, value }: Batch["points"]) {
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

const hourIn = ({ id }: Row): number => Number(id) % HOURS;
const numberOf = (value: unknown): number => (typeof value === "number" ? value : NaN);
const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
const nullIfUnknown = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** The package returns blobs as one or the other. */
function bytesOf(value: unknown): Uint8Array {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Uint8Array);
}

function hourStat(hour: number, figures: Omit<Stat, "from" | "to">): Stat[] {
  if (Number.isNaN(figures.max)) return [];
  return [{ from: hour * HOUR_MS, to: (hour + 1) * HOUR_MS, ...figures }];
}

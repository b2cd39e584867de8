import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Database from "libsql";
import { isDamage, setAside, toStorageError } from "./sqlite-errors.ts";
import { MIGRATIONS } from "./sqlite-schema.ts";
import { StorageUnusable } from "./storage.ts";

/** Small pages: a batch has some thousand bytes, and SQLite writes whole pages. */
const PAGE_BYTES = 1_024;

/** A longer log of changes, such as after a long wait for the disk, is cut when it is empty. */
const LONGEST_WAL = 8 * 2 ** 20;

export type SqliteValue = string | number | null | Uint8Array;
export type SqliteRow = Readonly<Record<string, unknown>>;

/** An open SQLite file with its tables. Its other methods are called within `read` or `write`. */
export class SqliteDatabase {
  readonly #path: string;
  readonly #statements = new Map<string, Database.Statement>();
  readonly #db: Database.Database;

  /**
   * Opens or creates the file. Another program may lock it for `busyMs`.
   * @throws StorageUnusable if it is locked for longer, or a newer Mantel has written it
   * @throws StorageDamaged after it set a damaged file aside; the next `open` creates an empty one
   */
  static open(path: string, busyMs: number, migrations = MIGRATIONS): SqliteDatabase {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      return new SqliteDatabase(path, busyMs, migrations);
    } catch (error) {
      throw isDamage(error) ? setAside(path, error) : toStorageError(error);
    }
  }

  private constructor(path: string, busyMs: number, migrations: readonly string[]) {
    this.#path = path;
    this.#db = new Database(path);
    try {
      this.#prepare(busyMs, migrations);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  #prepare(busyMs: number, migrations: readonly string[]): void {
    this.#db.exec(`PRAGMA busy_timeout = ${busyMs}`);
    const [row] = this.#db.prepare("PRAGMA user_version").all([]) as SqliteRow[];
    const version = Number(row?.["user_version"] ?? 0);
    if (version > migrations.length) {
      throw new StorageUnusable(
        "the history was written by a newer version of Mantel; update Mantel, or move the folder history away",
      );
    }
    this.#db.exec(`PRAGMA page_size = ${PAGE_BYTES}`); // counts only for an empty file
    this.#db.prepare("PRAGMA journal_mode = WAL").all([]);
    this.#db.prepare(`PRAGMA journal_size_limit = ${LONGEST_WAL}`).all([]);
    this.#db.exec("PRAGMA synchronous = FULL"); // with NORMAL a power cut would lose all since the last checkpoint
    if (version < migrations.length) {
      const pragma = `PRAGMA user_version = ${migrations.length}`;
      this.write(() =>
        [...migrations.slice(version), pragma].forEach((each) => this.#db.exec(each)),
      );
      this.commit();
    } else this.#db.prepare("SELECT count(*) FROM series").all([]);
  }

  /**
   * Reads from the file. Bytes that cannot be unpacked are damage as well.
   * @throws StorageUnusable, StorageFull; StorageDamaged after it closed the file and set it aside
   */
  read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isDamage(error)) throw toStorageError(error);
      this.end();
      throw setAside(this.#path, error);
    }
  }

  /** Writes within the open transaction, which it begins if there is none. @throws as `read` */
  write(work: () => void): void {
    this.read(() => {
      if (!this.#db.inTransaction) this.#db.exec("BEGIN IMMEDIATE");
      work();
    });
  }

  /** Ends the transaction, if there is one. @throws as `read` */
  commit(): void {
    this.read(() => {
      if (this.#db.inTransaction) this.#db.exec("COMMIT");
    });
  }

  /** Undoes the transaction; some errors have ended it already. */
  rollback(): void {
    if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
  }

  /** Returns the number of changed rows. */
  run(sql: string, values: readonly SqliteValue[]): number {
    return this.#statement(sql).run(values).changes; // a single value that is not in a list would count as named ones
  }

  all(sql: string, values: readonly SqliteValue[] = []): SqliteRow[] {
    return this.#statement(sql).all(values) as SqliteRow[];
  }

  /** Rows as lists, which are read faster than objects. */
  lists(sql: string, values: readonly SqliteValue[]): unknown[][] {
    return this.#statement(sql).raw().all(values) as unknown[][];
  }

  /** The size of the data, without the free pages of the file. */
  bytes(): number {
    const pages = this.#pragma("page_count") - this.#pragma("freelist_count");
    return pages * this.#pragma("page_size");
  }

  /** The bytes in the file that deleted rows have left. */
  freeBytes(): number {
    return this.#pragma("freelist_count") * this.#pragma("page_size");
  }

  end(): void {
    this.#statements.clear();
    try {
      this.#db.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // the file is damaged or locked, or the disk is full
    }
    this.#db.close();
  }

  #pragma(name: "page_count" | "freelist_count" | "page_size"): number {
    const [row] = this.all(`PRAGMA ${name}`);
    return Number(row?.[name] ?? 0);
  }

  #statement(sql: string): Database.Statement {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

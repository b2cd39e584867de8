import { closeHours } from "./closing.ts";
import { StorageConnection } from "./connection.ts";
import type {
  CurveAnswer,
  CurveRequest,
  History,
  Known,
  Notices,
  Point,
  RawRequest,
  Retention,
  StatRequest,
} from "./history.ts";
import { Reader } from "./reader.ts";
import { SeriesTable } from "./series.ts";
import { HOUR_MS, hourOf, type Stat } from "./statistics.ts";
import type {
  Batch,
  DeviceRow,
  EntryFilter,
  RunCounts,
  RunFilter,
  RunPage,
  Storage,
  StoredEntry,
  StoredRun,
} from "./storage.ts";

const DAY_MS = 24 * HOUR_MS;
/** Reports among which is the latest one. */
const LAST_BATCHES = 10_000;

/**
 * The history on top of a storage: keeps the reports of the running hour in memory, makes figures of hours that are
 * over, and answers from both.
 */
export class Recorder implements History {
  readonly #retention: Retention;
  readonly #series = new SeriesTable();
  readonly #devices = new Map<string, DeviceRow>();
  readonly #connection: StorageConnection;
  readonly #reader: Reader;
  #lastCleanup = -Infinity;

  constructor(
    open: () => Storage | Promise<Storage>,
    retention: Retention,
    notices: Notices,
    clock: () => number = Date.now,
  ) {
    this.#retention = retention;
    const known = { devices: this.#devices, series: this.#series };
    this.#connection = new StorageConnection({ open, notices, ...known });
    this.#reader = new Reader(this.#series, this.#connection, clock);
  }

  async open(): Promise<Known> {
    await this.#connection.open();
    const loaded = await this.#connection.call((storage) => storage.load());
    const { devices, series, open, unreachable, aliveAt } = loaded;
    for (const device of devices) this.#devices.set(device.id, device);
    for (const { carry, closedHour, ...row } of series)
      this.#series.add(row, { carry, closedHour });
    this.#series.remember(open);
    return {
      devices,
      series: this.#series.all().map(({ row, last }) => ({ ...row, value: last })),
      unreachable,
      lastAt: open.at.slice(-LAST_BATCHES).reduce((last, at) => Math.max(last, at), aliveAt ?? -1),
    };
  }

  async record(batch: Batch): Promise<void> {
    for (const device of batch.devices) this.#devices.set(device.id, device);
    for (const row of batch.series) this.#series.add(row);
    this.#series.remember(batch.points);
    await this.#connection.append(batch);
  }

  async maintain(now: number): Promise<void> {
    await this.#connection.maintain(async () => {
      await this.#connection.call((storage) => storage.alive(now));
      await closeHours(this.#series, this.#connection, now);
      if (now - this.#lastCleanup < DAY_MS && now >= this.#lastCleanup) return;
      this.#lastCleanup = now;
      await this.#cleanUp(now);
    });
  }

  async #cleanUp(now: number): Promise<void> {
    const { rawDays, logbookDays, exceptions, maxBytes } = this.#retention;
    for (const { id, device } of this.#series.rows()) {
      const days = exceptions[device] ?? rawDays;
      await this.#connection.call((storage) => storage.dropCurves(id, hourOf(now - days * DAY_MS)));
    }
    await this.#connection.call((storage) => storage.dropEntries(now - logbookDays * DAY_MS));
    while ((await this.bytes()) > maxBytes) {
      if (!(await this.#connection.dropOldest())) return;
    }
  }

  curve(request: CurveRequest): Promise<CurveAnswer> {
    return this.#reader.curve(request);
  }

  statistics(request: StatRequest): Promise<(Stat | null)[]> {
    return this.#reader.statistics(request);
  }

  raw(request: RawRequest): Promise<readonly Point[]> {
    return this.#reader.raw(request);
  }

  entries(filter: EntryFilter): Promise<StoredEntry[]> {
    return this.#connection.call((storage) => storage.entries(filter));
  }

  runs(page: RunPage): Promise<StoredRun[]> {
    return this.#connection.call((storage) => storage.runs(page));
  }

  countRuns(filter: RunFilter): Promise<RunCounts> {
    return this.#connection.call((storage) => storage.countRuns(filter));
  }

  bytes(): Promise<number> {
    return this.#connection.call((storage) => storage.bytes());
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

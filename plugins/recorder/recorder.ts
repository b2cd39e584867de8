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
import type { Stat } from "./statistics.ts";
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
import { Upkeep } from "./upkeep.ts";

/** Reports among which is the latest one. */
const LAST_BATCHES = 10_000;

/**
 * The history on top of a storage: keeps the reports of the running hour in memory, makes figures of hours that are
 * over, and answers from both.
 */
export class Recorder implements History {
  readonly #series = new SeriesTable();
  readonly #devices = new Map<string, DeviceRow>();
  readonly #connection: StorageConnection;
  readonly #reader: Reader;
  readonly #upkeep: Upkeep;

  constructor(
    open: () => Storage | Promise<Storage>,
    retention: Retention,
    notices: Notices,
    clock: () => number = Date.now,
  ) {
    const known = { devices: this.#devices, series: this.#series };
    this.#connection = new StorageConnection({ open, notices, ...known });
    this.#reader = new Reader(this.#series, this.#connection, clock);
    this.#upkeep = new Upkeep(this.#series, this.#connection, retention);
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

  hold(batch: Batch): Promise<void> {
    this.#remember(batch);
    this.#connection.hold(batch);
    return Promise.resolve();
  }

  async record(batch: Batch): Promise<void> {
    this.#remember(batch);
    await this.#connection.append(batch);
  }

  #remember({ devices, series, points }: Batch): void {
    for (const device of devices) this.#devices.set(device.id, device);
    for (const row of series) this.#series.add(row);
    this.#series.remember(points);
  }

  async maintain(now: number): Promise<boolean> {
    let isMore = false;
    await this.#connection.maintain(async () => {
      const slice = await this.#upkeep.slice(now);
      isMore = slice.isMore;
      return slice.stored;
    });
    return isMore;
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
    return this.#connection.callWithHeld((storage) => storage.entries(filter));
  }

  runs(page: RunPage): Promise<StoredRun[]> {
    return this.#connection.callWithHeld((storage) => storage.runs(page));
  }

  countRuns(filter: RunFilter): Promise<RunCounts> {
    return this.#connection.callWithHeld((storage) => storage.countRuns(filter));
  }

  bytes(): Promise<number> {
    return this.#connection.call((storage) => storage.bytes());
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

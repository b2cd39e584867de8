import { dropOldest } from "./dropping.ts";
import type { Notices } from "./history.ts";
import type { SeriesTable } from "./series.ts";
import {
  type Batch,
  type DeviceRow,
  joined,
  NOTHING_NEW,
  type Storage,
  StorageDamaged,
  StorageFull,
  StorageUnusable,
} from "./storage.ts";

/** Batches that wait for room on the disk, or for the database; half an hour of them. */
const MOST_WAITING = 1_200;
/** Steps of dropping reports in one transaction when there is no room. */
const STEPS_AT_ONCE = 50;

interface ConnectionDependencies {
  readonly open: () => Storage | Promise<Storage>;
  readonly notices: Notices;
  /** The known devices and series, which an empty storage gets after damage. */
  readonly devices: ReadonlyMap<string, DeviceRow>;
  readonly series: SeriesTable;
}

/**
 * The storage, which is opened again after damage or when it was lost. Batches that cannot be stored now wait in memory.
 * Users get one warning until it works again.
 */
export class StorageConnection {
  readonly #parts: ConnectionDependencies;
  #storage: Storage | undefined;
  /** Batches that a power cut would lose, the oldest first. */
  #waiting: Batch[] = [];
  /** The number of them that are in the transaction of the storage. */
  #appended = 0;
  /** True if the next batch is joined with the last one. */
  #isLastOpen = false;
  #isDegraded = false;
  /** True from a full disk until there is room again for the next one. */
  #isFull = false;

  constructor(parts: ConnectionDependencies) {
    this.#parts = parts;
  }

  /** Opens the storage; a damaged one is set aside, with a warning. @throws StorageUnusable */
  async open(): Promise<Storage> {
    try {
      this.#storage ??= await this.#parts.open();
    } catch (error) {
      if (!(error instanceof StorageDamaged)) throw error;
      this.#parts.notices.warn(error.message);
      this.#storage = await this.#parts.open();
    }
    return this.#storage;
  }

  /**
   * Calls the storage. After damage it calls an empty one, which has the known devices and series.
   * @throws StorageUnusable when it was lost; the next call opens it again
   * @throws StorageFull
   */
  async call<T>(work: (storage: Storage) => T | Promise<T>): Promise<T> {
    try {
      return await this.#callOpened(work);
    } catch (error) {
      if (error instanceof StorageUnusable) await this.#lost(error);
      else await this.#rollBack();
      throw error;
    }
  }

  async #callOpened<T>(work: (storage: Storage) => T | Promise<T>): Promise<T> {
    const storage = await this.open();
    try {
      return await work(storage);
    } catch (error) {
      if (!(error instanceof StorageDamaged)) throw error;
      const { notices, devices, series } = this.#parts;
      notices.warn(error.message);
      this.#storage = undefined;
      const next = await this.open();
      const known = { devices: [...devices.values()], series: series.rows() };
      await next.append({ ...NOTHING_NEW, ...known });
      for (const batch of this.#waiting.slice(0, this.#appended)) await next.append(batch);
      return work(next);
    }
  }

  /** Keeps a batch in memory. */
  hold(batch: Batch): void {
    const last = this.#isLastOpen ? this.#waiting.pop() : undefined;
    this.#waiting.push(last ? joined(last, batch) : batch);
    this.#isLastOpen = true;
    if (this.#waiting.length <= MOST_WAITING) return;
    this.#waiting.shift();
    this.#appended = Math.max(0, this.#appended - 1);
  }

  /**
   * Calls the storage for records among which are those in memory, which a power cut may still lose. On a full disk
   * they are missing.
   * @throws as `call`
   */
  async callWithHeld<T>(work: (storage: Storage) => T | Promise<T>): Promise<T> {
    try {
      while (this.#appended < this.#waiting.length) await this.#appendNext();
    } catch (error) {
      if (!(error instanceof StorageFull)) throw error;
    }
    return this.call(work);
  }

  /** Stores a batch, or keeps it until that is possible. Of too many that wait, the oldest is dropped. */
  async append(batch: Batch): Promise<void> {
    this.hold(batch);
    await this.#store();
    this.#isLastOpen = false;
  }

  /**
   * Does work on the storage in one transaction, unless batches have to wait, and then what the work returned. What
   * fails on a full or lost storage is left undone.
   */
  async maintain(work: () => Promise<() => void>): Promise<void> {
    await this.#store();
    if (this.#waiting.length > 0) return;
    try {
      const stored = await work();
      await this.#commit();
      stored();
      if (this.#isFull) await this.#stillFull();
      this.#recovered();
    } catch (error) {
      if (error instanceof StorageUnusable) return;
      if (!(error instanceof StorageFull)) throw error;
      await this.#makeRoom();
    }
  }

  async close(): Promise<void> {
    await this.#store().catch(() => undefined); // the reason was reported before
    await this.#storage?.end();
    this.#storage = undefined;
  }

  /** Stores what waits. On a full disk it drops the oldest reports, and keeps waiting if that is not enough. */
  async #store(): Promise<void> {
    for (let attempt = 0; this.#waiting.length > 0;) {
      try {
        if (this.#appended === 0) await this.#appendNext();
        await this.#commit();
        if (this.#waiting.length === 0) this.#recovered();
      } catch (error) {
        if (error instanceof StorageUnusable) return;
        if (!(error instanceof StorageFull)) throw error;
        attempt++;
        if (attempt > 1 || !(await this.#makeRoom())) return;
      }
    }
  }

  /** Puts the next batch into the transaction. */
  async #appendNext(): Promise<void> {
    const next = this.#waiting[this.#appended];
    if (!next) return;
    this.#isLastOpen = false;
    await this.call((storage) => storage.append(next));
    this.#appended++;
  }

  async #commit(): Promise<void> {
    await this.call((storage) => storage.commit());
    this.#waiting.splice(0, this.#appended);
    this.#appended = 0;
  }

  async #rollBack(): Promise<void> {
    this.#appended = 0;
    await this.#storage?.rollback();
  }

  async #makeRoom(): Promise<boolean> {
    const reason = "the disk is full; the history drops its oldest reports";
    this.#degraded("the disk is full; the oldest reports are deleted", reason);
    this.#isFull = true;
    try {
      await this.call((storage) => storage.makeRoom());
      return (await this.call((storage) => storage.hasRoom())) || (await this.#dropOldest());
    } catch (error) {
      if (error instanceof StorageFull) return false;
      throw error;
    }
  }

  /** Drops the oldest reports, and returns true if there were some. */
  async #dropOldest(): Promise<boolean> {
    const dropping = dropOldest((work) => this.call(work), this.#parts.series.rows());
    for (let steps = 1; ; steps++) {
      const step = await dropping.next();
      if (step.done === true || steps % STEPS_AT_ONCE === 0) await this.#commit();
      if (step.done === true) return step.value;
    }
  }

  /** While others fill the disk, keeps room inside the storage, because making some needs room too. */
  async #stillFull(): Promise<void> {
    this.#isFull = !(await this.call((storage) => storage.reserve()));
    if (!this.#isFull || (await this.call((storage) => storage.hasRoom()))) return;
    await this.#dropOldest();
  }

  /** Ends a connection that was lost; the next call opens another one. */
  async #lost(error: StorageUnusable): Promise<void> {
    const storage = this.#storage;
    this.#storage = undefined;
    this.#appended = 0;
    try {
      await storage?.end();
    } catch {
      // it is lost already
    }
    this.#degraded(error.message, error.message);
  }

  #degraded(warning: string, reason: string): void {
    if (this.#isDegraded) return;
    this.#isDegraded = true;
    this.#parts.notices.warn(warning);
    this.#parts.notices.degraded(reason);
  }

  #recovered(): void {
    if (!this.#isDegraded || this.#isFull) return;
    this.#isDegraded = false;
    this.#parts.notices.degraded(undefined);
  }
}

import { closeHours } from "./closing.ts";
import type { StorageConnection } from "./connection.ts";
import { dropBefore, dropOldest } from "./dropping.ts";
import type { Retention } from "./history.ts";
import type { SeriesTable } from "./series.ts";
import { HOUR_MS, hourOf } from "./statistics.ts";

const DAY_MS = 24 * HOUR_MS;
/** The time after which a slice ends, so that batches do not wait. */
const SLICE_MS = 50;

/** A slice of the regular work. */
export interface Slice {
  /** To be called when the slice survives a power cut. */
  readonly stored: () => void;
  /** True if the next slice continues the work. */
  readonly isMore: boolean;
}

/** The regular work on the storage: it closes hours, and drops what is too old or too much, in short slices. */
export class Upkeep {
  readonly #series: SeriesTable;
  readonly #connection: StorageConnection;
  readonly #retention: Retention;
  readonly #sliceMs: number;
  readonly #call: StorageConnection["call"];
  /** True if the last slice survives a power cut. */
  #isStored = false;
  #work: AsyncGenerator<() => void> | undefined;
  #lastCleanup = -Infinity;

  constructor(
    series: SeriesTable,
    connection: StorageConnection,
    retention: Retention,
    sliceMs: number = SLICE_MS,
  ) {
    this.#series = series;
    this.#connection = connection;
    this.#call = (work) => connection.call(work);
    this.#retention = retention;
    this.#sliceMs = sliceMs;
  }

  /** Works for the time of a slice. After a failure the work begins again with the next call. */
  async slice(now: number): Promise<Slice> {
    if (!this.#isStored) this.#work = undefined;
    this.#isStored = false;
    await this.#call((storage) => storage.alive(now));
    const work = (this.#work ??= this.#allWork(now));
    const end = performance.now() + this.#sliceMs;
    const done: (() => void)[] = [];
    const stored = (): void => {
      this.#isStored = true;
      done.forEach((each) => each());
    };
    for (;;) {
      const step = await work.next();
      if (step.done === true) {
        this.#work = undefined;
        return { stored, isMore: false };
      }
      done.push(step.value);
      if (performance.now() >= end) return { stored, isMore: true };
    }
  }

  async *#allWork(now: number): AsyncGenerator<() => void> {
    yield* closeHours(this.#series, this.#connection, now);
    const sinceCleanup = now - this.#lastCleanup;
    if (sinceCleanup >= HOUR_MS || sinceCleanup < 0) {
      for await (const _ of this.#dropOld(now)) yield () => undefined;
      this.#lastCleanup = now;
    }
    for await (const _ of this.#dropSurplus()) yield () => undefined;
  }

  async *#dropOld(now: number): AsyncGenerator<undefined> {
    const { rawDays, logbookDays, exceptions } = this.#retention;
    const series = this.#series.rows().map(({ id, device }) => {
      const days = exceptions[device] ?? rawDays;
      return { id, hour: hourOf(now - days * DAY_MS) };
    });
    yield* dropBefore(this.#call, series);
    const oldest = now - logbookDays * DAY_MS;
    let isDropped = false;
    while (await this.#call((storage) => storage.dropEntries(oldest))) {
      isDropped = true;
      yield;
    }
    if (isDropped) await this.#call((storage) => storage.dropCauses());
  }

  /** Drops the oldest reports while the history is larger than it may be. */
  async *#dropSurplus(): AsyncGenerator<undefined> {
    while ((await this.#call((storage) => storage.bytes())) > this.#retention.maxBytes) {
      if (!(yield* dropOldest(this.#call, this.#series.rows()))) return;
    }
  }
}

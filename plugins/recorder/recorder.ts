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
import { type Curve, PackedCurve, sorted } from "./points.ts";
import { clipped, heldStat, pointsOf, resolutionFor, spansOf } from "./segments.ts";
import {
  type Carry,
  Figures,
  HOUR_MS,
  hourOf,
  merged,
  NOTHING,
  overlapMs,
  type Stat,
  statsOf,
  STEP_MS,
} from "./statistics.ts";
import {
  type Batch,
  type ClosedHour,
  type DeviceRow,
  type EntryFilter,
  type SeriesRow,
  type Storage,
  StorageDamaged,
  StorageFull,
  StorageUnusable,
} from "./storage.ts";

const DAY_MS = 24 * HOUR_MS;
/** Reports of an hour may still be on their way for this long. */
const SETTLED_MS = 60_000;
/** Batches that wait for room on the disk; half an hour of them. */
const MOST_WAITING = 1_200;
/** Reports among which is the latest one. */
const LAST_BATCHES = 10_000;
/** Reports that are dropped at once when the file is too large. */
const DROPPED_HOURS = 24;
/** A clock that was ahead leaves reports in the future; they are closed when they are older than this. */
const DAYS_AHEAD = 2;

interface Series {
  readonly row: SeriesRow;
  /** The reports of hours that are not closed, by hour. */
  readonly open: Map<number, PackedCurve>;
  /** The value at the end of the last closed hour. */
  carry: Carry;
  /** The last closed hour. */
  closedHour: number;
  last: number;
}

/**
 * The history on top of a storage: keeps the reports of the running hour in memory, makes figures of hours that are
 * over, and answers from both.
 */
export class Recorder implements History {
  readonly #openStorage: () => Storage | Promise<Storage>;
  readonly #retention: Retention;
  readonly #notices: Notices;
  readonly #clock: () => number;
  readonly #series = new Map<number, Series>();
  readonly #devices = new Map<string, DeviceRow>();
  #storage: Storage | undefined;
  #waiting: Batch[] = [];
  #isFull = false;
  #lastCleanup = -Infinity;

  constructor(
    openStorage: () => Storage | Promise<Storage>,
    retention: Retention,
    notices: Notices,
    clock: () => number = Date.now,
  ) {
    this.#openStorage = openStorage;
    this.#retention = retention;
    this.#notices = notices;
    this.#clock = clock;
  }

  async open(): Promise<Known> {
    const storage = await this.#opened();
    const { devices, series, open, unreachable, aliveAt } = await storage.load();
    for (const device of devices) this.#devices.set(device.id, device);
    for (const { carry, closedHour, ...row } of series) this.#add(row, { carry, closedHour });
    for (const [index, id] of open.series.entries())
      this.#remember(id, open.at[index] ?? 0, open.value[index] ?? NaN);
    return {
      devices,
      series: [...this.#series.values()].map(({ row, last }) => ({ ...row, value: last })),
      unreachable,
      lastAt: open.at.slice(-LAST_BATCHES).reduce((last, at) => Math.max(last, at), aliveAt ?? -1),
    };
  }

  /** Opens the storage; a damaged one is set aside, with a warning. */
  async #opened(): Promise<Storage> {
    try {
      this.#storage ??= await this.#openStorage();
    } catch (error) {
      if (!(error instanceof StorageDamaged)) throw error;
      this.#notices.warn(error.message);
      this.#storage = await this.#openStorage();
    }
    return this.#storage;
  }

  async record(batch: Batch): Promise<void> {
    for (const device of batch.devices) this.#devices.set(device.id, device);
    for (const row of batch.series) this.#add(row);
    const { series, at, value } = batch.points;
    for (const [index, id] of series.entries())
      this.#remember(id, at[index] ?? 0, value[index] ?? NaN);
    this.#waiting.push(batch);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
    await this.#store();
  }

  /** Stores what waits. On a full disk it drops the oldest reports, and keeps waiting if that is not enough. */
  async #store(): Promise<void> {
    for (let attempt = 0; this.#waiting.length > 0;) {
      try {
        const [next] = this.#waiting;
        if (next) await this.#with((storage) => storage.append(next));
        this.#waiting.shift();
      } catch (error) {
        if (error instanceof StorageUnusable) return this.#lost(error);
        if (!(error instanceof StorageFull)) throw error;
        attempt++;
        if (attempt > 1 || !(await this.#makeRoom())) return;
      }
    }
    if (this.#isFull) {
      this.#isFull = false;
      this.#notices.degraded(undefined);
    }
  }

  /** Ends a connection that was lost; the next call opens another one. Warns once. */
  async #lost(error: StorageUnusable): Promise<void> {
    const storage = this.#storage;
    this.#storage = undefined;
    await Promise.resolve(storage?.end()).catch(() => undefined); // it is lost already
    if (this.#isFull) return;
    this.#isFull = true;
    this.#notices.warn(error.message);
    this.#notices.degraded(error.message);
  }

  /** Drops the oldest reports, and returns true if there were some. Warns once until there is room again. */
  async #makeRoom(): Promise<boolean> {
    if (!this.#isFull) {
      this.#isFull = true;
      this.#notices.warn("the disk is full; the oldest reports give way");
      this.#notices.degraded("the disk is full; the history drops its oldest reports");
    }
    try {
      await this.#with((storage) => storage.makeRoom());
      return await this.#dropOldest();
    } catch (error) {
      if (error instanceof StorageFull) return false;
      throw error;
    }
  }

  async #dropOldest(): Promise<boolean> {
    const oldest = await this.#with((storage) => storage.oldestCurve());
    if (oldest === undefined) return false;
    for (const { row } of this.#series.values())
      await this.#with((storage) => storage.dropCurves(row.id, oldest + DROPPED_HOURS));
    return true;
  }

  async maintain(now: number): Promise<void> {
    await this.#store();
    if (this.#isFull) return;
    try {
      await this.#with((storage) => storage.alive(now));
      await this.#closeHours(now);
      if (now - this.#lastCleanup < DAY_MS && now >= this.#lastCleanup) return;
      this.#lastCleanup = now;
      await this.#cleanUp(now);
    } catch (error) {
      if (error instanceof StorageUnusable) return this.#lost(error);
      if (!(error instanceof StorageFull)) throw error;
      await this.#makeRoom();
    }
  }

  async #closeHours(now: number): Promise<void> {
    const hours = new Map<number, Series[]>();
    for (const series of this.#series.values()) {
      for (const hour of series.open.keys()) {
        const isOver = (hour + 1) * HOUR_MS + SETTLED_MS <= now;
        const isAhead = hour * HOUR_MS > now + DAYS_AHEAD * DAY_MS;
        if (isOver || isAhead) hours.set(hour, [...(hours.get(hour) ?? []), series]);
      }
    }
    for (const [hour, all] of [...hours].toSorted(([a], [b]) => a - b)) {
      const closed: ClosedHour[] = [];
      for (const series of all) closed.push(await this.#closedHour(series, hour));
      await this.#with((storage) => storage.close(hour, closed));
      for (const [index, series] of all.entries()) {
        series.open.delete(hour);
        const { isLast, carry = NOTHING } = closed[index] ?? {};
        if (isLast) Object.assign(series, { carry, closedHour: hour });
      }
    }
  }

  async #closedHour(series: Series, hour: number): Promise<ClosedHour> {
    const { row, open, closedHour, carry } = series;
    const isLast = hour > closedHour;
    const [stored] = isLast
      ? []
      : await this.#with((storage) => storage.curves(row.id, hour, hour + 1));
    const own = open.get(hour)?.curve() ?? { at: [], value: [] };
    const curve = stored
      ? sorted({
          at: [...stored.curve.at, ...own.at],
          value: [...stored.curve.value, ...own.value],
        })
      : own;
    const before = isLast ? carry : await this.#carryBefore(row.id, hour);
    const from = hour * HOUR_MS;
    const span = { from, to: from + HOUR_MS, stepMs: STEP_MS };
    const figures = statsOf(curve, span, { carry: before, isCounter: row.isCounter });
    const stat = merged(figures.stats, span.from, span.to);
    return { series: row.id, hour, curve, five: figures.stats, stat, carry: figures.carry, isLast };
  }

  async #carryBefore(series: number, hour: number): Promise<Carry> {
    const value = (await this.#with((storage) => storage.lastBefore(series, hour))) ?? NaN;
    return { value, known: value };
  }

  async #cleanUp(now: number): Promise<void> {
    const { rawDays, logbookDays, exceptions, maxBytes } = this.#retention;
    for (const { row } of this.#series.values()) {
      const days = exceptions[row.device] ?? rawDays;
      await this.#with((storage) => storage.dropCurves(row.id, hourOf(now - days * DAY_MS)));
    }
    await this.#with((storage) => storage.dropEntries(now - logbookDays * DAY_MS));
    while ((await this.bytes()) > maxBytes) {
      if (!(await this.#dropOldest())) return;
    }
  }

  async curve({ series: id, from, to, points }: CurveRequest): Promise<CurveAnswer> {
    const series = this.#find(id);
    const wanted = resolutionFor((to - from) / points);
    const span = { from, to: this.#end(series, to), points };
    if (span.to <= from) return { points: [], resolution: wanted };
    const oldest = hourOf(span.from);
    const spans = wanted === "raw" ? await this.#rawSpans(series, span) : undefined;
    if (spans) return { points: pointsOf(spans, span), resolution: "raw" };
    const step = wanted === "1h" ? "hour" : "five";
    const stats = await this.#stats(series, { ...span, splitHours: new Set([oldest]) }, step);
    return { points: pointsOf(stats, span), resolution: step === "hour" ? "1h" : "5m" };
  }

  /** The reports as spans; `undefined` if some of them were dropped. */
  async #rawSpans(
    series: Series,
    { from, to }: { readonly from: number; readonly to: number },
  ): Promise<Stat[] | undefined> {
    const { id } = series.row;
    const [first, end] = [hourOf(from), hourOf(to - 1) + 1];
    const stored = await this.#with((storage) => storage.curves(id, first, end));
    const hours = await this.#with((storage) => storage.hours(id, first, end, "hour"));
    if (stored.length < hours.length) return undefined;
    const curve = this.#joinedCurve(series, stored, first, end);
    const before = await this.#lastBefore(series, first);
    const whole = { at: [first * HOUR_MS, ...curve.at], value: [before, ...curve.value] };
    return spansOf(whole, from, to);
  }

  /** The end of a span, which is not in the future: a report holds until the present. */
  #end({ open }: Series, to: number): number {
    const last = Math.max(-1, ...[...open.values()].map(({ last: at }) => at));
    return Math.min(to, Math.max(this.#clock(), last + 1));
  }

  #joinedCurve(
    series: Series,
    stored: readonly { readonly hour: number; readonly curve: Curve }[],
    first: number,
    end: number,
  ): Curve {
    const parts = [
      ...stored,
      ...[...series.open].map(([hour, packed]) => ({ hour, curve: packed.curve() })),
    ].filter(({ hour }) => hour >= first && hour < end);
    return sorted({
      at: parts.flatMap(({ curve }) => [...curve.at]),
      value: parts.flatMap(({ curve }) => [...curve.value]),
    });
  }

  /** The value at the begin of an hour. */
  async #lastBefore(series: Series, hour: number): Promise<number> {
    const open = [...series.open].filter(([each]) => each < hour).toSorted(([a], [b]) => b - a);
    const [[, packed] = []] = open;
    const last = packed?.curve().value.at(-1);
    if (last !== undefined) return last;
    if (series.closedHour >= 0 && series.closedHour < hour) return series.carry.value;
    return (await this.#with((storage) => storage.lastBefore(series.row.id, hour))) ?? NaN;
  }

  /** Figures from `from` to `to` without gaps, as far as the value was known. */
  async #stats(
    series: Series,
    span: { readonly from: number; readonly to: number; readonly splitHours: ReadonlySet<number> },
    step: "five" | "hour",
  ): Promise<Stat[]> {
    const { row } = series;
    const [first, end] = [hourOf(span.from), hourOf(span.to - 1) + 1];
    const hours = await this.#with((storage) => storage.hours(row.id, first, end, step));
    const found = new Map(hours.map((each) => [each.hour, each]));
    for (const hour of step === "hour" ? span.splitHours : []) {
      const [fine] = await this.#with((storage) => storage.hours(row.id, hour, hour + 1, "five"));
      if (fine) found.set(hour, fine);
    }
    let held = await this.#lastBefore(series, first);
    let known = Number.isNaN(held) ? series.carry.known : held;
    for (const [hour, packed] of [...series.open].toSorted(([a], [b]) => a - b)) {
      if (hour < first || hour >= end || found.has(hour)) continue;
      const before = [...found.values()].filter((each) => each.hour < hour).at(-1)?.last ?? held;
      known = Number.isNaN(before) ? known : before;
      const from = hour * HOUR_MS;
      const { stats, carry } = statsOf(
        packed.curve(),
        { from, to: Math.min(from + HOUR_MS, this.#end(series, span.to)), stepMs: STEP_MS },
        { carry: { value: before, known }, isCounter: row.isCounter },
      );
      known = carry.known;
      found.set(hour, { hour, stats, last: carry.value });
    }
    const all: Stat[] = [];
    let until = span.from;
    for (const { hour, stats, last } of [...found.values()].toSorted((a, b) => a.hour - b.hour)) {
      all.push(...heldStat(held, until, hour * HOUR_MS), ...stats);
      held = last;
      until = Math.max(until, (hour + 1) * HOUR_MS);
    }
    all.push(...heldStat(held, until, this.#end(series, span.to)));
    return all.flatMap((stat) => clipped(stat, span.from, span.to));
  }

  async statistics({ series: id, bounds }: StatRequest): Promise<(Stat | null)[]> {
    const series = this.#find(id);
    const [from = 0, to = 0] = [bounds[0], bounds.at(-1)];
    const split = bounds.filter((bound) => bound % HOUR_MS !== 0).map(hourOf);
    const stats = await this.#stats(series, { from, to, splitHours: new Set(split) }, "hour");
    let next = 0;
    return bounds.slice(0, -1).map((start, index) => {
      const end = bounds[index + 1] ?? start;
      const figures = new Figures();
      while ((stats[next]?.to ?? Infinity) <= start) next++;
      for (let at = next; (stats[at]?.from ?? Infinity) < end; at++) {
        const stat = stats[at];
        const part = stat ? overlapMs(stat, start, end) : 0;
        if (stat && part > 0) figures.include(stat, part);
      }
      return figures.isKnown ? figures.stat(start, end) : null;
    });
  }

  async raw({ series: id, from, to, limit }: RawRequest): Promise<readonly Point[]> {
    const series = this.#find(id);
    const points: Point[] = [];
    const end = hourOf(to - 1) + 1;
    for (let first = hourOf(from); first < end && points.length < limit; first += 24) {
      const until = Math.min(end, first + 24);
      const stored = await this.#with((storage) => storage.curves(id, first, until));
      const { at, value } = this.#joinedCurve(series, stored, first, until);
      for (const [index, instant] of at.entries()) {
        if (instant < from || instant >= to || points.length >= limit) continue;
        const each = value[index] ?? NaN;
        points.push({ at: instant, value: Number.isNaN(each) ? null : each });
      }
    }
    return points;
  }

  async entries(filter: EntryFilter) {
    return this.#with((storage) => storage.entries(filter));
  }

  async bytes(): Promise<number> {
    return this.#with((storage) => storage.bytes());
  }

  async close(): Promise<void> {
    await this.#store().catch(() => undefined); // the reason was reported before
    await this.#storage?.end();
    this.#storage = undefined;
  }

  /** Calls the storage. After damage it goes on with an empty one, which gets the known devices and series. */
  async #with<T>(work: (storage: Storage) => T | Promise<T>): Promise<T> {
    const storage = await this.#opened();
    try {
      return await work(storage);
    } catch (error) {
      if (!(error instanceof StorageDamaged)) throw error;
      this.#notices.warn(error.message);
      this.#storage = undefined;
      const next = await this.#opened();
      const series = [...this.#series.values()].map(({ row }) => row);
      const points = { series: [], at: [], value: [] };
      await next.append({ devices: [...this.#devices.values()], series, points, entries: [] });
      return work(next);
    }
  }

  #add(row: SeriesRow, { carry, closedHour } = { carry: NOTHING, closedHour: -1 }): void {
    const known = this.#series.get(row.id);
    const fresh = { open: new Map<number, PackedCurve>(), carry, closedHour, last: carry.value };
    this.#series.set(row.id, { ...fresh, ...known, row });
  }

  #remember(id: number, at: number, value: number): void {
    const series = this.#series.get(id);
    if (!series) return;
    const hour = hourOf(at);
    const packed = series.open.get(hour) ?? new PackedCurve(hour * HOUR_MS);
    packed.add(at, value);
    series.open.set(hour, packed);
    series.last = value;
  }

  #find(id: number): Series {
    const series = this.#series.get(id);
    if (series) return series;
    throw new Error(`there is no series ${id}`);
  }
}

import { MantelError } from "./errors.ts";
import { handledName, type RunRequest, type SetScheduleRequest } from "./schedule-protocol.ts";
import { firstTime, type ScheduleSpec, timeAfter } from "./schedule-spec.ts";

const MOST = 1_000;
/** A later run is a missed one. Reloads and restarts take less. */
const ON_TIME_MS = 60_000;

/** One timer. */
export interface Timer {
  readonly spec: ScheduleSpec;
  readonly missed: "skip" | "once";
  /** Epoch milliseconds; `null` for a date that has passed, which is kept so that it does not run again. */
  readonly dueAt: number | null;
  /** The zone in which the times of a cron expression were found. */
  readonly timeZone: string;
}

/** The timers of one module, by name. */
export class ModuleTimers {
  readonly #timers: Map<string, Timer>;
  /** The names of timers whose run has not begun yet. */
  readonly #beginning = new Set<string>();
  /** No run begins before this time. */
  #heldUntil = 0;

  constructor(timers: Iterable<readonly [string, Timer]> = []) {
    this.#timers = new Map(timers);
  }

  get all(): ReadonlyMap<string, Timer> {
    return this.#timers;
  }

  /**
   * Sets a timer; true if one was added or changed.
   * @throws MantelError `invalid` for times that never occur, `rate_limited` for too many timers
   */
  set(
    { name, spec, missed, isStart }: SetScheduleRequest,
    { now, timeZone }: { now: number; timeZone: string },
  ): boolean {
    const known = this.#timers.get(name);
    if (!known && this.#timers.size >= MOST) {
      const sentence = `a plugin has at most ${MOST} schedules; cancel some, or use one for several tasks`;
      throw new MantelError("rate_limited", sentence);
    }
    const isSame = known !== undefined && isSameSpec(known.spec, spec);
    const isKept = isSame && (isStart || spec.kind !== "after");
    if (isKept && known.missed === missed && known.timeZone === timeZone) return false;
    const keepsTime = isKept && (spec.kind !== "cron" || known.timeZone === timeZone);
    const dueAt = keepsTime ? known.dueAt : firstTime(spec, now, timeZone);
    this.#timers.set(name, { spec, missed, dueAt, timeZone });
    return true;
  }

  cancel(name: string): boolean {
    return this.#timers.delete(name);
  }

  /** Removes timers without a handler, and returns their names. */
  keepOnly(names: ReadonlySet<string>): string[] {
    const removed = [...this.#timers.keys()].filter(
      (name) => handledName(names, name) === undefined,
    );
    for (const name of removed) this.#timers.delete(name);
    return removed;
  }

  /** The earliest time at which a run may begin. */
  get nextAt(): number {
    let earliest = Infinity;
    for (const [name, { dueAt }] of this.#timers) {
      if (dueAt !== null && dueAt < earliest && !this.#beginning.has(name)) earliest = dueAt;
    }
    return Math.max(earliest, this.#heldUntil);
  }

  /**
   * The runs that are due, until `begun` or `hold` is called for each. Missed ones that are to be left out are moved
   * on, and are not among them.
   */
  takeDue(now: number): RunRequest[] {
    if (now < this.#heldUntil) return [];
    const runs: RunRequest[] = [];
    for (const [name, { dueAt, missed }] of this.#timers) {
      if (dueAt === null || dueAt > now || this.#beginning.has(name)) continue;
      const isMissed = now - dueAt > ON_TIME_MS;
      if (isMissed && missed === "skip") this.#moveOn(name, dueAt, now);
      else {
        this.#beginning.add(name);
        runs.push({ name, dueAt, isMissed });
      }
    }
    return runs;
  }

  /** Moves a timer whose run has begun to its next time. True if it was one that runs once. */
  begun({ name, dueAt }: RunRequest, now: number): boolean {
    this.#beginning.delete(name);
    return this.#moveOn(name, dueAt, now);
  }

  /** Keeps a run that could not begin, and begins none before this time. */
  hold({ name }: RunRequest, until: number): void {
    this.#beginning.delete(name);
    this.#heldUntil = until;
  }

  /** Lets runs begin again. */
  release(): void {
    this.#heldUntil = 0;
  }

  /** True if a timer that runs once has ended. Does nothing if it was set again meanwhile. */
  #moveOn(name: string, dueAt: number, now: number): boolean {
    const timer = this.#timers.get(name);
    if (timer?.dueAt !== dueAt) return false;
    const { spec, timeZone } = timer;
    if (spec.kind === "after") return this.#timers.delete(name);
    const next = timeAfter(spec, { dueAt, now, timeZone }) ?? null;
    this.#timers.set(name, { ...timer, dueAt: next });
    return next === null;
  }

  /** Follows a clock that was set back: intervals keep their length, and cron expressions their next time. */
  clockSetBack(byMs: number, now: number): void {
    this.#heldUntil = 0;
    for (const [name, timer] of this.#timers) {
      const { spec, dueAt, timeZone } = timer;
      if (dueAt === null || spec.kind === "at") continue;
      const next = spec.kind === "cron" ? firstTime(spec, now, timeZone) : dueAt - byMs;
      this.#timers.set(name, { ...timer, dueAt: next });
    }
  }
}

function isSameSpec(a: ScheduleSpec, b: ScheduleSpec): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

import { setImmediate } from "node:timers/promises";
import {
  handledName,
  type RunRequest,
  type ScheduleHostApi,
  type SetScheduleRequest,
} from "./schedule-protocol.ts";
import { firstTime, type ScheduleSpec, timeAfter } from "./schedule-spec.ts";

interface FakeTimer {
  readonly spec: ScheduleSpec;
  dueAt: number | undefined;
}

/** The clock behind `ctx.schedule` in a test. It moves only when the test moves it. */
export class FakeClock implements ScheduleHostApi {
  readonly #timeZone: string;
  readonly #timers = new Map<string, FakeTimer>();
  #now: number;
  #run: (request: RunRequest) => void = () => undefined;

  constructor(now: Date, timeZone: string) {
    this.#now = now.getTime();
    this.#timeZone = timeZone;
  }

  /** Runs handlers in this runner. */
  attach(run: (request: RunRequest) => void): void {
    this.#run = run;
  }

  get now(): Date {
    return new Date(this.#now);
  }

  /** The next time of a schedule; `undefined` if there is none of that name. */
  nextRun(name: string): Date | undefined {
    const dueAt = this.#timers.get(name)?.dueAt;
    return dueAt === undefined ? undefined : new Date(dueAt);
  }

  /** Moves the clock, and resolves when every run until then has begun, in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      const [name, timer, dueAt] = next;
      this.#now = Math.max(this.#now, dueAt);
      const at = { dueAt, now: this.#now, timeZone: this.#timeZone };
      timer.dueAt = timeAfter(timer.spec, at);
      this.#run({ name, dueAt, isMissed: false });
      await setImmediate(); // the handler may set its schedule again
    }
    this.#now = end;
  }

  async setSchedule({ name, spec, isStart }: SetScheduleRequest): Promise<void> {
    const known = this.#timers.get(name);
    const isSame = known && JSON.stringify(known.spec) === JSON.stringify(spec);
    if (isSame && (isStart || spec.kind !== "after")) return;
    this.#timers.set(name, { spec, dueAt: firstTime(spec, this.#now, this.#timeZone) });
  }

  async cancelSchedule({ name }: { name: string }): Promise<boolean> {
    return this.#timers.delete(name);
  }

  async resumeSchedules({ names }: { names: readonly string[] }): Promise<void> {
    for (const name of this.#timers.keys()) {
      if (handledName(names, name) === undefined) this.#timers.delete(name);
    }
  }

  /** The earliest timer that is due until `end`. */
  #next(end: number): [string, FakeTimer, number] | undefined {
    let first: [string, FakeTimer, number] | undefined;
    for (const [name, timer] of this.#timers) {
      const { dueAt } = timer;
      if (dueAt === undefined || dueAt > end) continue;
      if (!first || dueAt < first[2]) first = [name, timer, dueAt];
    }
    return first;
  }
}

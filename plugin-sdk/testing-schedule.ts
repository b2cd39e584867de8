import { setImmediate } from "node:timers/promises";
import { ModuleTimers } from "./module-timers.ts";
import type { RunRequest, ScheduleHostApi, SetScheduleRequest } from "./schedule-protocol.ts";
import { CancelRequest, SetRequest } from "./schedule-spec.ts";
import { check } from "./validate.ts";

/**
 * The clock behind `ctx.schedule` in a test, with the timers. It moves only when the test moves it. Pass it to the next
 * `startPlugin` to keep both.
 */
export class FakeClock implements ScheduleHostApi {
  readonly #timers = new ModuleTimers();
  #timeZone: string;
  #now: number;
  /** Absent while no plugin runs. */
  #run: ((request: RunRequest) => void) | undefined;

  constructor(now: Date, timeZone: string) {
    this.#now = now.getTime();
    this.#timeZone = timeZone;
  }

  /** Runs handlers in this runner. */
  attach(run: (request: RunRequest) => void, timeZone: string): void {
    this.#run = run;
    this.#timeZone = timeZone;
  }

  /** Keeps the timers until the next `attach`, because the plugin has stopped. */
  detach(): void {
    this.#run = undefined;
  }

  get now(): Date {
    return new Date(this.#now);
  }

  /** The next time of a schedule; `undefined` if there is none of that name. */
  nextRun(name: string): Date | undefined {
    const dueAt = this.#timers.all.get(name)?.dueAt ?? undefined;
    return dueAt === undefined ? undefined : new Date(dueAt);
  }

  /**
   * Moves the clock, and resolves when every run until then has begun, in order. While no plugin runs, only the time
   * passes: the next start makes up for runs as the host does, where those more than a minute late are missed.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    while (this.#run && this.#timers.nextAt <= end) {
      this.#now = Math.max(this.#now, this.#timers.nextAt);
      for (const request of this.#timers.takeDue(this.#now)) {
        this.#run(request);
        this.#timers.begun(request, this.#now);
        await setImmediate(); // the handler may set its schedule again
      }
    }
    this.#now = end;
  }

  async setSchedule(request: SetScheduleRequest): Promise<void> {
    const at = { now: this.#now, timeZone: this.#timeZone };
    this.#timers.set(check(SetRequest, request, "a schedule"), at);
  }

  async cancelSchedule(request: { name: string }): Promise<boolean> {
    return this.#timers.cancel(check(CancelRequest, request, "the name of a schedule").name);
  }

  async resumeSchedules({ names }: { names: readonly string[] }): Promise<void> {
    this.#timers.keepOnly(new Set(names));
  }
}

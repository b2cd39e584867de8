import type { Log } from "../context.ts";
import { MantelError } from "../errors.ts";
import { handledName, type RunRequest } from "../schedule-protocol.ts";
import type { ScheduleSpec } from "../schedule-spec.ts";
import type { Schedule, ScheduleHandler, ScheduleOptions } from "../schedule.ts";
import type { HostLink } from "./host-link.ts";
import { freeze } from "./primordials.ts";

interface ScheduleDependencies {
  readonly host: HostLink;
  readonly log: Log;
  /** Runs a handler, which the end of the generation waits for. */
  readonly accept: (work: () => Promise<void>) => Promise<void>;
}

/** The handlers of one generation's timers. The timers themselves are in the host. */
export class Schedules {
  readonly #parts: ScheduleDependencies;
  readonly #handlers = new Map<string, ScheduleHandler>();
  readonly #running = new Set<string>();
  #isStart = true;

  constructor(parts: ScheduleDependencies) {
    this.#parts = parts;
  }

  /** True if it has a handler: its timer runs as long as the process does. */
  get isWaiting(): boolean {
    return this.#handlers.size > 0;
  }

  /** Reports the handlers to the host, which begins to run their timers. */
  started(): void {
    this.#isStart = false;
    this.#parts.host.notify("resumeSchedules", { names: [...this.#handlers.keys()] });
  }

  /** Starts a handler, without waiting for it. @throws MantelError `invalid` if there is none of that name */
  run({ name, dueAt, isMissed }: RunRequest): void {
    const handled = handledName(this.#handlers.keys(), name);
    const handler = handled === undefined ? undefined : this.#handlers.get(handled);
    if (!handler) throw new MantelError("invalid", `no handler for the schedule ${name}`);
    const { log, accept } = this.#parts;
    if (this.#running.has(name)) {
      log.warn("skipped a run of a schedule: its previous run has not ended", { name });
      return;
    }
    this.#running.add(name);
    void accept(async () => {
      try {
        await handler({ name, dueAt: new Date(dueAt), isMissed });
      } catch (error) {
        log.error("a schedule failed", { name, error });
      } finally {
        this.#running.delete(name);
      }
    });
  }

  /** Creates `ctx.schedule`. */
  create(): Schedule {
    const set = async (
      name: string,
      spec: ScheduleSpec,
      handler: ScheduleHandler,
      { missed }: ScheduleOptions,
    ): Promise<void> => {
      const isOnce = spec.kind === "at" || spec.kind === "after";
      const before = this.#handlers.get(name);
      this.#handlers.set(name, handler); // it may be due before the answer arrives
      const request = { name, spec, missed: missed ?? (isOnce ? "once" : "skip") } as const;
      try {
        await this.#parts.host.call("setSchedule", { ...request, isStart: this.#isStart });
      } catch (error) {
        if (before) this.#handlers.set(name, before);
        else this.#handlers.delete(name);
        throw error;
      }
    };
    return freeze({
      at: (name, date, handler, options = {}) =>
        set(name, { kind: "at", at: date.getTime() }, handler, options),
      every: (name, ms, handler, options = {}) =>
        set(name, { kind: "every", ms }, handler, options),
      cron: (name, expression, handler, options = {}) =>
        set(name, { kind: "cron", expression }, handler, options),
      after: (name, ms, handler, options = {}) =>
        set(name, { kind: "after", ms }, handler, options),
      on: (name, handler) => void this.#handlers.set(name, handler),
      cancel: async (name) => {
        this.#handlers.delete(name);
        return this.#parts.host.call("cancelSchedule", { name });
      },
    } satisfies Schedule);
  }
}

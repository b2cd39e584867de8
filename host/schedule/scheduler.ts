import { join } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { ModuleTimers } from "@mantel/plugin-sdk/module-timers";
import type { RunRequest, SetScheduleRequest } from "@mantel/plugin-sdk/schedule-protocol";
import { MissedPolicy, ScheduleName, ScheduleSpec } from "@mantel/plugin-sdk/schedule-spec";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { Type, type Static } from "typebox";
import type { HostLog } from "../log.ts";
import { check } from "../validate.ts";

/** The longest sleep, so that a clock that is set is noticed. */
const LOOK_MS = 30_000;
/** A clock that is behind by more was set back. */
const SET_BACK_MS = 1_000;
/** Runs of intervals and cron expressions are stored this much later, together. */
const STORE_MS = 60_000;
const RETRY_MS = 5_000;

const Stored = Type.Object({
  module: Type.String(),
  name: ScheduleName,
  spec: ScheduleSpec,
  missed: MissedPolicy,
  dueAt: Type.Union([Type.Number(), Type.Null()]),
  timeZone: Type.String(),
});
/** `<data>/schedules.json`: the timers of all modules. */
export const SchedulesFile = Type.Object(
  { version: Type.Literal(1), schedules: Type.Array(Stored) },
  { additionalProperties: false },
);
type SchedulesFile = Static<typeof SchedulesFile>;

/** The time, which tests move. */
export interface Clock {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonicNow: () => number;
  /** Calls once after a time, and returns a function that stops that. */
  readonly wake: (ms: number, call: () => void) => () => void;
}

const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  wake: (ms, call) => {
    const timer = setTimeout(call, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** A started generation, whose timers run. */
export interface ScheduleRunner {
  /** Runs a handler of the live generation; resolves when it has begun. */
  readonly run: (request: RunRequest) => Promise<void>;
  /** Called for timers that the generation has no handler for. */
  readonly dropped: (name: string) => void;
}

interface Dependencies {
  readonly dataFolder: string;
  readonly log: HostLog;
  readonly timeZone: () => string;
  readonly clock?: Clock;
}

/** The timers of all modules, in `<data>/schedules.json`. They run while their module does. */
export class Scheduler {
  readonly #file: DocumentFile<SchedulesFile>;
  readonly #parts: Dependencies;
  readonly #clock: Clock;
  readonly #modules = new Map<string, ModuleTimers>();
  readonly #runners = new Map<string, ScheduleRunner>();
  readonly #queue = new SerialQueue();
  #stopTimer: () => void = () => undefined;
  #stopStoring: (() => void) | undefined;
  /** The wall clock minus the monotonic one. */
  #offset: number;
  /** The write that has not begun yet. */
  #nextWrite: Promise<void> | undefined;

  static async open(parts: Dependencies): Promise<Scheduler> {
    const path = join(parts.dataFolder, "schedules.json");
    const parse = (value: unknown) => check(SchedulesFile, value, "schedules.json");
    const file = new DocumentFile({ path, parse, log: parts.log, version: 1 });
    return new Scheduler(file, (await file.load())?.schedules ?? [], parts);
  }

  private constructor(
    file: DocumentFile<SchedulesFile>,
    stored: SchedulesFile["schedules"],
    parts: Dependencies,
  ) {
    this.#file = file;
    this.#parts = parts;
    this.#clock = parts.clock ?? SYSTEM_CLOCK;
    this.#offset = this.#clock.now() - this.#clock.monotonicNow();
    for (const module of new Set(stored.map((each) => each.module))) {
      const own = stored.filter((each) => each.module === module);
      this.#modules.set(module, new ModuleTimers(own.map(({ name, ...timer }) => [name, timer])));
    }
  }

  /** Sets a timer of a module. Resolves when it is stored. @throws MantelError as `ModuleTimers.set`, `disk_full` */
  async set(module: string, request: SetScheduleRequest): Promise<void> {
    const timers = this.#modules.get(module) ?? new ModuleTimers();
    const at = { now: this.#clock.now(), timeZone: this.#parts.timeZone() };
    if (!timers.set(request, at)) return;
    this.#modules.set(module, timers);
    this.#arm();
    await this.#store();
  }

  /** Removes a timer; true if there was one. Resolves when that is stored. @throws MantelError `disk_full` */
  async cancel(module: string, name: string): Promise<boolean> {
    if (!this.#modules.get(module)?.cancel(name)) return false;
    await this.#store();
    return true;
  }

  /** Runs the timers of a module that has started with these handlers. The others are removed. */
  resume(module: string, names: ReadonlySet<string>, runner: ScheduleRunner): void {
    const timers = this.#modules.get(module);
    timers?.release();
    const dropped = timers?.keepOnly(names) ?? [];
    for (const name of dropped) runner.dropped(name);
    this.#runners.set(module, runner);
    if (dropped.length > 0) this.#storeInBackground();
    this.#arm();
  }

  /** Keeps the timers of a module until it starts again, if this runner is still its last one. */
  pause(module: string, runner: ScheduleRunner): void {
    if (this.#runners.get(module) === runner) this.#runners.delete(module);
  }

  /** Resolves when all is stored. */
  async close(): Promise<void> {
    this.#stopTimer();
    this.#runners.clear();
    const isUnstored = this.#stopStoring !== undefined;
    this.#stopStoring?.();
    if (isUnstored) await this.#store().catch(() => undefined); // nobody waits for it any more
    await this.#queue.ended();
  }

  /** Sleeps until the next timer of a running module is due. */
  #arm(): void {
    this.#stopTimer();
    if (this.#runners.size === 0) return;
    const now = this.#clock.now();
    let sleepMs = LOOK_MS;
    for (const module of this.#runners.keys()) {
      const nextAt = this.#modules.get(module)?.nextAt ?? Infinity;
      sleepMs = Math.min(sleepMs, nextAt - now);
    }
    this.#stopTimer = this.#clock.wake(Math.max(0, sleepMs), () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.now();
    this.#followClock(now);
    for (const [module, runner] of this.#runners) {
      const timers = this.#modules.get(module);
      for (const request of timers?.takeDue(now) ?? []) void this.#run(module, runner, request);
    }
    this.#arm();
  }

  #followClock(now: number): void {
    const offset = now - this.#clock.monotonicNow();
    const backMs = this.#offset - offset;
    this.#offset = offset;
    if (backMs < SET_BACK_MS) return;
    this.#parts.log.info("the clock was set back; schedules follow it", {
      byMs: Math.round(backMs),
    });
    for (const timers of this.#modules.values()) timers.clockSetBack(backMs, now);
    this.#storeLater();
  }

  /** Never rejects. */
  async #run(module: string, runner: ScheduleRunner, request: RunRequest): Promise<void> {
    const timers = this.#modules.get(module);
    try {
      await runner.run(request);
    } catch (error) {
      if (error instanceof MantelError && error.code === "module_down") {
        timers?.hold(request, this.#clock.now() + RETRY_MS);
        return this.#arm();
      }
      this.#parts.log.warn("could not run a schedule", { module, name: request.name, error });
    }
    if (timers?.begun(request, this.#clock.now())) this.#storeInBackground();
    else this.#storeLater();
    this.#arm();
  }

  /** Stores soon what a restart could find out again, with all that follows until then. */
  #storeLater(): void {
    this.#stopStoring ??= this.#clock.wake(STORE_MS, () => this.#storeInBackground());
  }

  #storeInBackground(): void {
    this.#store().catch((error: unknown) => {
      this.#parts.log.error("could not store the schedules", { error });
    });
  }

  /** Resolves when everything until now is stored. Calls that wait share one write. */
  #store(): Promise<void> {
    this.#stopStoring?.();
    this.#stopStoring = undefined;
    this.#nextWrite ??= this.#queue.take(() => {
      this.#nextWrite = undefined;
      return this.#file.write({ version: 1, schedules: this.#stored() });
    });
    return this.#nextWrite;
  }

  #stored(): SchedulesFile["schedules"] {
    return [...this.#modules].flatMap(([module, { all }]) =>
      [...all].map(([name, timer]) => ({ module, name, ...timer })),
    );
  }
}

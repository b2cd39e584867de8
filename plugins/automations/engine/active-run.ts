import type { CommandBody, StateValue } from "@mantel/plugin-sdk";
import { attempt, sentenceOf } from "./attempt.ts";
import {
  type ActsFor,
  type Automation,
  type Clock,
  type EngineHome,
  type Run,
  RunCancelled,
  type Step,
  type StepResult,
  type TracedAction,
  type TracedCondition,
} from "./automation.ts";
import { type JournalEntry, keyOf, type RunEnd, type StoredRun } from "./journal.ts";
import { startTimer, type Timer } from "./timer.ts";
import type { Fire, StoredWatch, Watch } from "./watch.ts";

/** Steps of one run, also of a loop in code. */
const MOST_STEPS = 10_000;

/** The parts of the engine that a run uses. */
export interface RunDependencies {
  readonly clock: Clock;
  readonly home: Pick<EngineHome, "activateScene" | "notify">;
  readonly watch: (
    trigger: Extract<Step, { type: "waitFor" }>["trigger"],
    fire: Fire,
    stored?: StoredWatch,
  ) => Watch;
  readonly check: (conditions: Extract<Step, { type: "check" }>["conditions"]) => {
    readonly isMet: boolean;
    readonly traced: readonly TracedCondition[];
  };
  readonly read: (device: string, field: string) => StateValue | undefined;
  /** Sends a command, and undoes it after `forMs`. */
  readonly command: (
    run: ActiveRun,
    step: { readonly device: string; readonly command: CommandBody; readonly forMs?: number },
    at: string,
  ) => Promise<void>;
  /** Called when a step begins or ends. */
  readonly changed: (run: ActiveRun) => void;
  /** Counts the runs that do something now, and do not wait. */
  readonly busy: (difference: 1 | -1) => void;
}

/** A step that waits. */
interface Waiting {
  readonly entry: JournalEntry;
  readonly timer: Timer;
  readonly watch?: Watch;
}

/** One run of an automation. Its journal has each step, so that it can be repeated after a restart. */
export class ActiveRun implements Run {
  readonly id: string;
  readonly automation: string;
  readonly startedAt: number;
  readonly trigger: Run["trigger"];
  readonly by: ActsFor;
  readonly name: string;
  readonly kept: unknown;
  readonly conditions: readonly TracedCondition[];
  readonly #parts: RunDependencies;
  readonly #journal: JournalEntry[];
  /** The steps from before a restart that were not repeated yet. */
  readonly #unread: Set<JournalEntry>;
  /** Actions that are taken after the run, such as the end of a command for a time. */
  readonly later: TracedAction[] = [];
  /** The number of steps that this process has taken, or repeated. */
  #taken = 0;
  readonly #waiting = new Set<Waiting>();
  #cancel: (error: Error) => void = () => undefined;
  readonly #cancelled: Promise<never>;
  #end: (RunEnd & { readonly at: number }) | undefined;

  constructor(stored: StoredRun, parts: RunDependencies) {
    this.id = stored.id;
    this.automation = stored.automation;
    this.name = stored.name;
    this.startedAt = stored.startedAt;
    this.trigger = stored.trigger;
    this.conditions = stored.conditions;
    this.kept = stored.kept;
    this.#journal = stored.journal.map((entry) => ({ ...entry }));
    this.#unread = new Set(this.#journal);
    this.#parts = parts;
    const { cause } = stored.trigger;
    const automation = { id: stored.automation, name: stored.name };
    this.by = cause ? { automation, parent: cause } : { automation };
    this.#cancelled = new Promise((_resolve, reject) => (this.#cancel = reject));
    this.#cancelled.catch(() => undefined);
  }

  get end(): (RunEnd & { readonly at: number }) | undefined {
    return this.#end;
  }

  /** True while a step waits for a time or a trigger. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** True if it has waited, so that it is stored. */
  get hasWaited(): boolean {
    return this.#journal.some(({ type }) => type === "wait" || type === "waitFor");
  }

  get journal(): readonly JournalEntry[] {
    return this.#journal;
  }

  /** Performs the automation. Resolves when the run has ended, and never rejects. */
  async perform({ perform }: Pick<Automation, "perform">): Promise<void> {
    const { busy, clock } = this.#parts;
    busy(1);
    let end: RunEnd;
    try {
      await Promise.race([perform(this, this.kept), this.#cancelled]);
      end = this.#journal.some(({ result }) => result?.result === "failed")
        ? { result: "failed" }
        : { result: "completed" };
    } catch (error) {
      end =
        error instanceof RunCancelled
          ? { result: "cancelled", error: error.message }
          : { result: "failed", error: sentenceOf(error) };
    }
    this.#end = { ...end, at: clock.now() };
    this.#stopWaiting();
    this.#parts.changed(this);
    busy(-1);
  }

  cancel(reason: string): void {
    this.#cancel(new RunCancelled(reason));
    this.#stopWaiting();
  }

  /** Ends it because its automation has failed. */
  fail(reason: string): void {
    this.#cancel(new Error(reason));
    this.#stopWaiting();
  }

  async step(step: Step): Promise<StepResult> {
    if (this.#end) throw new RunCancelled("the run has ended");
    if (this.#taken++ >= MOST_STEPS) {
      throw new Error(`the run takes more than ${MOST_STEPS} steps`);
    }
    const known = this.#repeated(keyOf(step));
    if (known?.result) return known.result;
    const entry = known ?? this.#begin(step);
    const isWait = step.type === "wait" || step.type === "waitFor";
    if (known && !isWait) {
      // It was under way when Mantel stopped; repeating it could do it twice.
      return this.#finish(entry, { result: "ok", error: "its outcome is not known" });
    }
    const result = await Promise.race([this.#take(step, entry), this.#cancelled]);
    return this.#finish(entry, result);
  }

  /** The run as it is stored. */
  stored(): StoredRun {
    const now = this.#parts.clock.now();
    const waiting = new Map([...this.#waiting].map((each) => [each.entry, each]));
    return {
      id: this.id,
      automation: this.automation,
      name: this.name,
      startedAt: this.startedAt,
      trigger: this.trigger,
      conditions: this.conditions,
      ...(this.kept !== undefined && { kept: this.kept }),
      journal: this.#journal.map((entry) => {
        const wait = waiting.get(entry);
        if (!wait) return { ...entry };
        const watch = wait.watch?.stored();
        return { ...entry, dueAt: now + wait.timer.leftMs(), ...(watch && { watch }) };
      }),
    };
  }

  /** The step of before a restart that is taken again. Steps beside each other may come in another order. */
  #repeated(key: string): JournalEntry | undefined {
    for (const entry of this.#unread) {
      if (entry.key !== key) continue;
      this.#unread.delete(entry);
      return entry;
    }
    return undefined;
  }

  #begin(step: Step): JournalEntry {
    const { type, at } = step;
    const startedAt = this.#parts.clock.now();
    const entry: JournalEntry = { key: keyOf(step), at, type, startedAt };
    this.#journal.push(entry);
    this.#parts.changed(this);
    return entry;
  }

  #finish(entry: JournalEntry, result: StepResult): StepResult {
    entry.endedAt = this.#parts.clock.now();
    entry.result = result;
    delete entry.dueAt;
    delete entry.watch;
    this.#parts.changed(this);
    return result;
  }

  async #take(step: Step, entry: JournalEntry): Promise<StepResult> {
    const { home, check, command, read } = this.#parts;
    switch (step.type) {
      case "command":
        return attempt(this.#parts, () => command(this, step, step.at));
      case "scene":
        return attempt(this.#parts, () => home.activateScene(step.scene, this.by));
      case "notify": {
        const to = typeof step.to === "string" ? [step.to] : step.to;
        return attempt(this.#parts, () => home.notify(step.message, to));
      }
      case "check":
        return { result: "ok", value: check(step.conditions).isMet };
      case "read":
        return { result: "ok", value: read(step.device, step.field) };
      case "value":
        return { result: "ok", value: step.value };
      case "wait":
        await this.#wait(entry, step.ms);
        return { result: "ok" };
      case "waitFor":
        return { result: "ok", value: await this.#wait(entry, step.timeoutMs, step.trigger) };
    }
  }

  /** Waits for a time, or for a trigger during it. Resolves with true if the trigger fired. */
  #wait(
    entry: JournalEntry,
    ms: number,
    trigger?: Extract<Step, { type: "waitFor" }>["trigger"],
  ): Promise<boolean> {
    const { clock, watch, busy } = this.#parts;
    const leftMs = entry.dueAt === undefined ? ms : entry.dueAt - clock.now();
    return new Promise((resolve) => {
      const end = (isFired: boolean): void => {
        if (!this.#waiting.delete(waiting)) return;
        waiting.timer.stop();
        waiting.watch?.stop();
        if (this.#waiting.size === 0) busy(1);
        resolve(isFired);
      };
      const timer = startTimer(clock, leftMs, () => end(false));
      const watched = trigger && watch(trigger, () => end(true), entry.watch);
      const waiting: Waiting = { entry, timer, ...(watched && { watch: watched }) };
      this.#waiting.add(waiting);
      if (this.#waiting.size === 1) busy(-1);
      this.#parts.changed(this);
    });
  }

  #stopWaiting(): void {
    if (this.#waiting.size === 0) return;
    for (const { timer, watch } of this.#waiting) {
      timer.stop();
      watch?.stop();
    }
    this.#waiting.clear();
    this.#parts.busy(1);
  }
}

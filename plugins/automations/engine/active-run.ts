import type { CommandBody, StateValue } from "@mantel/plugin-sdk";
import { attempt, sentenceOf } from "./attempt.ts";
import {
  type ActsFor,
  type Automation,
  type Clock,
  type EngineHome,
  type RampRequest,
  type Run,
  RunCancelled,
  type Step,
  type StepResult,
  type TracedAction,
  type TracedCondition,
  type VariableRequest,
} from "./automation.ts";
import {
  entryOf,
  type JournalEntry,
  keyOf,
  type RunEnd,
  type RunHead,
  type StoredRun,
} from "./journal.ts";
import { performRamp } from "./ramp.ts";
import { KEYS, type StateStore } from "./state-store.ts";
import { startTimer, type Timer } from "./timer.ts";
import type { Fire, StoredWatch, Watch } from "./watch.ts";

/** Steps of one run, also of a loop in code. */
const MOST_STEPS = 10_000;

/** The parts of the engine that a run uses. */
export interface RunDependencies {
  readonly clock: Clock;
  readonly home: Pick<EngineHome, "activateScene" | "notify">;
  readonly store: StateStore;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  readonly watch: (
    trigger: Extract<Step, { type: "waitFor" }>["trigger"],
    callbacks: { readonly fire: Fire; readonly changed: () => void },
    stored?: StoredWatch,
  ) => Watch;
  readonly check: (
    run: ActiveRun,
    conditions: Extract<Step, { type: "check" }>["conditions"],
  ) => { readonly isMet: boolean; readonly traced: readonly TracedCondition[] };
  readonly read: (device: string, field: string) => StateValue | undefined;
  /** @throws Error for a value that is too large */
  readonly variable: (run: ActiveRun, request: VariableRequest) => unknown;
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

  constructor({ journal, ...head }: StoredRun, parts: RunDependencies) {
    const { id, automation, name, startedAt, trigger, conditions, kept } = head;
    this.id = id;
    this.automation = automation;
    this.name = name;
    this.startedAt = startedAt;
    this.trigger = trigger;
    this.conditions = conditions;
    this.kept = kept;
    this.#journal = journal.map((entry) => ({ ...entry }));
    this.#unread = new Set(this.#journal);
    this.#parts = parts;
    const { cause } = trigger;
    this.by = { automation: { id: automation, name }, ...(cause && { parent: cause }) };
    this.#cancelled = new Promise((_resolve, reject) => (this.#cancel = reject));
    this.#cancelled.catch(() => undefined);
    parts.store.set(KEYS.run(id), head satisfies RunHead);
  }

  get end(): (RunEnd & { readonly at: number }) | undefined {
    return this.#end;
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
    this.#forget();
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
    if (isInstant(step)) return this.#takeInstant(step, known);
    const isWait = step.type === "wait" || step.type === "waitFor" || step.type === "ramp";
    if (known && !isWait) {
      // It was under way when Mantel stopped; repeating it could do it twice.
      return this.#finish(known, { result: "ok", error: "its outcome is not known" });
    }
    const entry = known ?? this.#begin(step);
    const result = await Promise.race([this.#take(step, entry), this.#cancelled]);
    return this.#finish(entry, result);
  }

  /** Stores the ends of waits again, because the date was set, so that the stored ones are wrong. */
  storeWaits(): void {
    for (const { entry, timer } of this.#waiting) {
      entry.dueAt = this.#parts.clock.now() + timer.leftMs();
      this.#store(entry);
    }
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
    const entry = entryOf(step, this.#parts.clock.now());
    this.#journal.push(entry);
    this.#store(entry);
    this.#parts.changed(this);
    return entry;
  }

  #finish(entry: JournalEntry, result: StepResult): StepResult {
    entry.endedAt = this.#parts.clock.now();
    entry.result = result;
    delete entry.dueAt;
    delete entry.watch;
    delete entry.ramp;
    this.#store(entry);
    this.#parts.changed(this);
    return result;
  }

  #store(entry: JournalEntry): void {
    const place = this.#journal.lastIndexOf(entry);
    this.#parts.store.set(KEYS.step(this.id, place), { ...entry });
  }

  #forget(): void {
    const { store } = this.#parts;
    store.delete(KEYS.run(this.id));
    for (const place of this.#journal.keys()) store.delete(KEYS.step(this.id, place));
  }

  /** Takes a step that needs no time. What it does is stored together with its result. */
  #takeInstant(step: InstantStep, known: JournalEntry | undefined): StepResult {
    const entry = known ?? entryOf(step, this.#parts.clock.now());
    if (!known) this.#journal.push(entry);
    return this.#finish(entry, this.#instantResult(step, entry));
  }

  #instantResult(step: InstantStep, entry: JournalEntry): StepResult {
    const { check, read, variable } = this.#parts;
    switch (step.type) {
      case "check": {
        const { isMet, traced } = check(this, step.conditions);
        entry.conditions = traced;
        return { result: "ok", value: isMet };
      }
      case "read":
        return { result: "ok", value: read(step.device, step.field) };
      case "value":
        return { result: "ok", value: step.value };
      case "variable":
        try {
          return { result: "ok", value: variable(this, step) };
        } catch (error) {
          return { result: "failed", error: sentenceOf(error) };
        }
    }
  }

  async #take(step: Exclude<Step, InstantStep>, entry: JournalEntry): Promise<StepResult> {
    const { home, command, random } = this.#parts;
    switch (step.type) {
      case "command":
        return attempt(this.#parts, () => command(this, step, step.at));
      case "scene":
        return attempt(this.#parts, () => home.activateScene(step.scene, this.by));
      case "notify": {
        const to = typeof step.to === "string" ? [step.to] : step.to;
        return attempt(this.#parts, () => home.notify(step.message, to, this.name));
      }
      case "ramp":
        return this.#takeRamp(step, entry);
      case "wait": {
        const { ms, maxMs = ms } = step;
        await this.#wait(entry, Math.round(ms + random() * Math.max(0, maxMs - ms)));
        return { result: "ok" };
      }
      case "waitFor":
        return { result: "ok", value: await this.#wait(entry, step.timeoutMs, step.trigger) };
    }
  }

  #takeRamp(step: RampRequest & { readonly at: string }, entry: JournalEntry): Promise<StepResult> {
    const { read, command } = this.#parts;
    const { device, at } = step;
    return performRamp(
      step,
      {
        read,
        command: (body) => attempt(this.#parts, () => command(this, { device, command: body }, at)),
        wait: (ms) => this.#wait(entry, ms).then(() => delete entry.dueAt),
        keep: (state) => {
          entry.ramp = state;
          this.#store(entry);
        },
      },
      entry.ramp,
    );
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
        if (!waiting || !this.#waiting.delete(waiting)) return;
        waiting.timer.stop();
        waiting.watch?.stop();
        if (this.#waiting.size === 0) busy(1);
        resolve(isFired);
      };
      const changed = (): void => {
        const state = waiting?.watch?.stored();
        if (state) entry.watch = state;
        if (waiting) this.#store(entry);
      };
      let waiting: Waiting | undefined;
      let hasFired = false; // while the watch is being made
      const fire = (): void => {
        hasFired = true;
        end(true);
      };
      const timer = startTimer(clock, leftMs, () => end(false));
      entry.dueAt = clock.now() + timer.leftMs();
      const watched = trigger && watch(trigger, { fire, changed }, entry.watch);
      waiting = { entry, timer, ...(watched && { watch: watched }) };
      this.#waiting.add(waiting);
      if (this.#waiting.size === 1) busy(-1);
      changed();
      this.#parts.changed(this);
      if (hasFired) end(true);
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

type InstantStep = Extract<Step, { type: "check" | "read" | "value" | "variable" }>;

function isInstant(step: Step): step is InstantStep {
  return ["check", "read", "value", "variable"].includes(step.type);
}

import { ActiveRun, type RunDependencies } from "./active-run.ts";
import type { Automation, Trace, TriggerEvent } from "./automation.ts";
import type { RunHead, StoredRun } from "./journal.ts";
import { KEYS, type Queued } from "./state-store.ts";

/** Runs of one automation that wait for their turn, or run at once. */
const MOST_RUNS = 10;

interface Dependencies {
  readonly automation: () => Automation;
  readonly run: RunDependencies;
  readonly newHead: (event: TriggerEvent, traced: Trace["conditions"]) => RunHead;
  /** Called with a sentence for the log when a run was left out. */
  readonly refused: (sentence: string, runs: number) => void;
}

/** The runs of one automation, and the triggers that wait for their turn. */
export class AutomationRuns {
  readonly #parts: Dependencies;
  readonly #active = new Set<ActiveRun>();
  #queue: Queued[] = [];

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#active.size;
  }

  [Symbol.iterator](): IterableIterator<ActiveRun> {
    return this.#active.values();
  }

  find(id: string): ActiveRun | undefined {
    return [...this.#active].find((run) => run.id === id);
  }

  /** Starts a run, as the mode of the automation says. */
  begin(event: TriggerEvent, traced: Trace["conditions"]): void {
    const { mode } = this.#parts.automation();
    if (mode === "restart") this.cancel("the automation started again");
    else if (this.#active.size > 0 && mode === "single") return;
    else if (this.#active.size > 0 && mode === "queued") {
      if (this.#queue.length >= MOST_RUNS) {
        return this.#parts.refused("too many runs wait", MOST_RUNS);
      }
      return this.#setQueue([...this.#queue, { event, traced }]);
    }
    this.start(event, traced);
  }

  /** Starts a run beside the others, and returns its id; `undefined` if there are too many. */
  start(event: TriggerEvent, traced: Trace["conditions"]): string | undefined {
    if (this.#active.size >= MOST_RUNS) {
      this.#parts.refused("too many runs at once", MOST_RUNS);
      return undefined;
    }
    const { kept } = this.#parts.automation();
    const head = this.#parts.newHead(event, traced);
    this.#perform({ ...head, ...(kept !== undefined && { kept }), journal: [] });
    return head.id;
  }

  /** Repeats the runs from before a restart, up to where they were, and keeps those that waited. */
  restore(runs: readonly StoredRun[], queue: readonly Queued[]): void {
    this.#queue = [...queue];
    for (const stored of runs) this.#perform(stored);
    if (runs.length === 0) this.#startNext();
  }

  /** Takes a run that has ended out, and starts the next one. */
  ended(run: ActiveRun): void {
    this.#active.delete(run);
    if (this.#active.size === 0) this.#startNext();
  }

  /** Ends all runs with an error, because the automation has failed. */
  fail(reason: string): void {
    for (const run of this.#active) run.fail(reason);
  }

  cancel(reason: string): void {
    this.#setQueue([]);
    for (const run of this.#active) run.cancel(reason);
    this.#active.clear();
  }

  #perform(stored: StoredRun): void {
    const run = new ActiveRun(stored, this.#parts.run);
    this.#active.add(run);
    void run.perform(this.#parts.automation());
  }

  #startNext(): void {
    const [next, ...later] = this.#queue;
    if (!next) return;
    this.#setQueue(later);
    this.start(next.event, next.traced);
  }

  #setQueue(queue: Queued[]): void {
    if (queue.length === 0 && this.#queue.length === 0) return;
    this.#queue = queue;
    const { store } = this.#parts.run;
    const key = KEYS.queue(this.#parts.automation().id);
    if (queue.length > 0) store.set(key, queue);
    else store.delete(key);
  }
}

import type { StoredRun } from "./journal.ts";
import { KEYS, type Queued, type StateStore } from "./state-store.ts";
import type { StoredState } from "./stored-state.ts";
import type { StoredWatch } from "./watch.ts";

/** Stored state of automations that are not set yet. Each takes its part when it is set. */
export class Unclaimed {
  readonly #store: StateStore;
  #runs: readonly StoredRun[] = [];
  #queues = new Map<string, readonly Queued[]>();
  /** The states of triggers by their keys. */
  #watches = new Map<string, StoredWatch>();

  constructor(store: StateStore) {
    this.#store = store;
  }

  restore({ runs, queues, watches }: Pick<StoredState, "runs" | "queues" | "watches">): void {
    this.#runs = runs;
    this.#queues = queues;
    this.#watches = watches;
  }

  /** The runs of an automation, and the triggers that waited for their turn. */
  takeRuns(id: string): { readonly runs: readonly StoredRun[]; readonly queue: readonly Queued[] } {
    const runs = this.#runs.filter(({ automation }) => automation === id);
    if (runs.length > 0) this.#runs = this.#runs.filter(({ automation }) => automation !== id);
    const queue = this.#queues.get(id) ?? [];
    this.#queues.delete(id);
    return { runs, queue };
  }

  /** The state of a trigger. */
  takeWatch(key: string): StoredWatch | undefined {
    const state = this.#watches.get(key);
    this.#watches.delete(key);
    return state;
  }

  /** Keeps the state of a trigger while its automation is exchanged. */
  keepWatch(key: string, state: StoredWatch): void {
    this.#watches.set(key, state);
  }

  /** Deletes the runs of an automation, which do not continue. */
  dropRuns(id: string): void {
    for (const run of this.takeRuns(id).runs) {
      this.#store.delete(KEYS.run(run.id));
      for (const place of run.journal.keys()) this.#store.delete(KEYS.step(run.id, place));
    }
    this.#store.delete(KEYS.queue(id));
  }

  /** Deletes all of automations that no longer exist. */
  dropOthers(exists: (id: string) => boolean): void {
    const ids = new Set([
      ...this.#runs.map(({ automation }) => automation),
      ...this.#queues.keys(),
    ]);
    for (const id of ids) if (!exists(id)) this.dropRuns(id);
    for (const key of this.#watches.keys()) {
      if (exists(key.slice(0, key.indexOf(" ")))) continue;
      this.#watches.delete(key);
      this.#store.delete(KEYS.watch(key));
    }
  }
}

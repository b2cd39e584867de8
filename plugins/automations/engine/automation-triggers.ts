import type { Automation } from "./automation.ts";
import { KEYS, type StateStore } from "./state-store.ts";
import type { Unclaimed } from "./unclaimed.ts";
import type { Fired, Watch } from "./watch.ts";
import type { Watches } from "./watches.ts";

interface Dependencies {
  readonly watches: Watches;
  readonly store: StateStore;
  readonly unclaimed: Unclaimed;
  readonly fired: (index: number, fired: Fired) => void;
}

/** The watched triggers of one automation. Their states are stored at each change. */
export class AutomationTriggers {
  readonly #parts: Dependencies;
  /** By keys that stay the same while the trigger does. */
  #watched = new Map<string, Watch>();

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Watches triggers in place of the previous ones; none if the automation is off. The same triggers keep their states. */
  set(automation: Automation, isOn: boolean): void {
    const keyed = keyedTriggers(automation);
    const { unclaimed } = this.#parts;
    for (const [key, watch] of this.#watched) {
      const state = keyed.has(key) ? watch.stored() : undefined;
      if (state) unclaimed.keepWatch(key, state);
      else this.#parts.store.delete(KEYS.watch(key));
      watch.stop();
    }
    this.#watched = new Map();
    if (!isOn) return;
    for (const [key, index] of keyed) this.#watch(automation, key, index);
  }

  /** Stops all of them, and forgets their states. */
  remove(): void {
    this.stop();
    for (const key of this.#watched.keys()) this.#parts.store.delete(KEYS.watch(key));
  }

  /** Stops all of them. Their states stay stored. */
  stop(): void {
    for (const watch of this.#watched.values()) watch.stop();
  }

  /** Stores all states again. */
  store(): void {
    for (const key of this.#watched.keys()) this.#store(key);
  }

  #watch({ triggers }: Automation, key: string, index: number): void {
    const trigger = triggers[index];
    if (!trigger) return;
    const { watches, unclaimed, fired } = this.#parts;
    const callbacks = {
      fire: (event: Fired) => fired(index, event),
      changed: () => this.#store(key),
    };
    this.#watched.set(key, watches.add(trigger, callbacks, unclaimed.takeWatch(key)));
    this.#store(key);
  }

  #store(key: string): void {
    const watch = this.#watched.get(key);
    if (!watch) return; // it is being made
    const state = watch.stored();
    if (state) this.#parts.store.set(KEYS.watch(key), state);
    else this.#parts.store.delete(KEYS.watch(key));
  }
}

/** The indexes of triggers by keys that stay the same while the trigger does. */
function keyedTriggers({ id, triggers }: Automation): Map<string, number> {
  const keyed = new Map<string, number>();
  for (const [index, trigger] of triggers.entries()) {
    const text = `${id} ${JSON.stringify(trigger)}`;
    let key = text;
    for (let count = 1; keyed.has(key); count++) key = `${text} ${count}`;
    keyed.set(key, index);
  }
  return keyed;
}

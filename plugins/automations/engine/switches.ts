import type { Clock } from "./automation.ts";
import { KEYS, type StateStore } from "./state-store.ts";
import type { StoredState } from "./stored-state.ts";

/** The latest instant of a date, which stands for no end: JSON has no infinity. */
export const FOREVER = 8_640_000_000_000_000;

/** The switches of automations that are not a part of their documents and files: one for each, and one for all. */
export class Switches {
  readonly #clock: Clock;
  readonly #store: StateStore;
  #pausedUntil: number | undefined;
  /** The instants until which automations are switched off, by their ids. */
  #off = new Map<string, number>();

  constructor(clock: Clock, store: StateStore) {
    this.#clock = clock;
    this.#store = store;
  }

  restore({ off, pausedUntil }: Pick<StoredState, "off" | "pausedUntil">): void {
    this.#off = new Map(off);
    this.#pausedUntil = pausedUntil;
  }

  pause(until: number): void {
    this.#pausedUntil = until;
    this.#store.set(KEYS.paused, until);
  }

  resume(): void {
    this.#pausedUntil = undefined;
    this.#store.delete(KEYS.paused);
  }

  /** The instant until which nothing starts; `undefined` if automations start. */
  get pausedUntil(): number | undefined {
    return this.#ifLater(this.#pausedUntil);
  }

  switchOff(id: string, until: number): void {
    this.#off.set(id, until);
    this.#store.set(KEYS.off(id), until);
  }

  switchOn(id: string): void {
    this.#off.delete(id);
    this.#store.delete(KEYS.off(id));
  }

  /** The instant until which an automation is switched off; `undefined` if it starts. */
  offUntil(id: string): number | undefined {
    return this.#ifLater(this.#off.get(id));
  }

  /** The ids of automations that were switched off. */
  ids(): string[] {
    return [...this.#off.keys()];
  }

  #ifLater(until: number | undefined): number | undefined {
    return until !== undefined && this.#clock.now() < until ? until : undefined;
  }
}

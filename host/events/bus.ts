import type { ApiEvent, ApiEvents, Topic } from "../api/events.ts";

type Listener = (announcement: ApiEvent) => void;

/** Notifies listeners of events. No part waits for its listeners. */
export class Bus {
  readonly #listeners = new Set<Listener>();

  emit<T extends Topic>(topic: T, data: ApiEvents[T]): void {
    const announcement = { topic, data } as ApiEvent;
    for (const listener of this.#listeners) listener(announcement);
  }

  /** Calls `listener` for each event from now on; returns a function that stops that. */
  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

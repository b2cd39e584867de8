import type { Trace, TriggerEvent } from "./automation.ts";

/**
 * All that a restart must not lose, as plain values by key. Each change is stored at once, so that a crash loses nothing.
 * A simulation uses a `Map`.
 */
export interface StateStore extends Iterable<[string, unknown]> {
  set(key: string, value: unknown): unknown;
  delete(key: string): unknown;
}

/** A trigger that waits for its turn, in the mode `queued`. */
export interface Queued {
  readonly event: TriggerEvent;
  readonly traced: Trace["conditions"];
}

/** The keys of the store. Ids of automations come first, so that all of an automation can be found. */
export const KEYS = {
  /** The head of a run; its steps have keys of their own, so that a step is one short entry. */
  run: (run: string) => `run ${run}`,
  step: (run: string, place: number) => `step ${run} ${place}`,
  queue: (automation: string) => `queue ${automation}`,
  undo: (automation: string, device: string) => `undo ${automation}\n${device}`,
  watch: (key: string) => `watch ${key}`,
  variable: (owner: string, name: string) => `variable ${owner}\n${name}`,
  off: (automation: string) => `off ${automation}`,
  paused: "paused",
} as const;

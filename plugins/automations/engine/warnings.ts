import type { Clock } from "./automation.ts";

const LASTS_MS = 60 * 60_000;

/** User-facing sentences about automations that fight. Each lasts an hour. */
export class Warnings {
  readonly #clock: Clock;
  readonly #byId = new Map<string, { readonly text: string; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(automations: readonly string[], text: string): void {
    const until = this.#clock.monotonic() + LASTS_MS;
    for (const id of automations) this.#byId.set(id, { text, until });
  }

  of(automation: string): string | undefined {
    const warning = this.#byId.get(automation);
    return warning && this.#clock.monotonic() < warning.until ? warning.text : undefined;
  }

  forget(automation: string): void {
    this.#byId.delete(automation);
  }
}

import type { Cause } from "@mantel/plugin-sdk/cause";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleLog } from "../state/logs.ts";

const PER_SECOND = 20;
const BURST = 100;
/** A command this soon after a change answers it. */
const ANSWER_MS = 2_000;
/** Commands in a row that answer own changes and are called a loop. */
const LOOP = 20;
const WARN_EVERY_MS = 60_000;

/**
 * Limits the commands of one module, and recognises a module that answers changes which its own commands caused: it
 * would do so for ever, at the rate of the bridge.
 */
export class HomeCommandLimit {
  readonly #id: string;
  readonly #log: Pick<ModuleLog, "record">;
  #tokens = BURST;
  #filledAt = performance.now();
  /** The times of the last own change of devices. */
  readonly #ownChanges = new Map<string, number>();
  #inRow = 0;
  #warnedAt = -Infinity;

  constructor(id: string, log: Pick<ModuleLog, "record">) {
    this.#id = id;
    this.#log = log;
  }

  /** Notes a change that the module gets. */
  noteChange(device: string, cause: Cause | undefined): void {
    if (cause?.kind === "module" && cause.id === this.#id) {
      this.#ownChanges.delete(device);
      this.#ownChanges.set(device, performance.now());
      const [oldest] = this.#ownChanges.keys();
      if (this.#ownChanges.size > BURST && oldest !== undefined) this.#ownChanges.delete(oldest);
    } else this.#ownChanges.delete(device);
  }

  /** Counts a command to a device or scene. @throws MantelError `rate_limited` */
  take(target: string): void {
    this.#watchLoop(target);
    const now = performance.now();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#filledAt) / 1000) * PER_SECOND);
    this.#filledAt = now;
    if (this.#tokens >= 1) return void this.#tokens--;
    throw new MantelError(
      "rate_limited",
      `${this.#id} sends more than ${PER_SECOND} commands a second; send fewer, or one scene`,
      { retryAfterMs: 1000 / PER_SECOND },
    );
  }

  #watchLoop(device: string): void {
    const now = performance.now();
    const isAnswer = now - (this.#ownChanges.get(device) ?? -Infinity) <= ANSWER_MS;
    this.#inRow = isAnswer ? this.#inRow + 1 : 0;
    if (this.#inRow < LOOP || now - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now;
    this.#log.record({
      level: "warn",
      sentence:
        "the plugin may be in a loop: it answers changes that its own commands caused; ignore a change whose cause is the plugin itself",
      fields: { device, commands: this.#inRow },
    });
  }
}

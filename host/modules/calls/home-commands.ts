import type { Cause } from "@mantel/plugin-sdk/cause";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { ModuleLog } from "../state/logs.ts";

const USUAL = { perSecond: 20, burst: 100 };
/** Automations act for the whole home. */
const OF_AUTOMATIONS = { perSecond: 100, burst: 500 };
/** Own changes that are remembered. */
const MOST_CHANGES = 100;
/** A command this soon after a change answers it. */
const ANSWER_MS = 2_000;
/** Commands in a row that answer own changes and are called a loop. */
const LOOP = 20;
const WARN_EVERY_MS = 60_000;

interface LimitedModule {
  readonly id: string;
  readonly log: Pick<ModuleLog, "record">;
  readonly manifest: Pick<Manifest, "kinds">;
}

/**
 * Limits the commands of one module, and recognises a module that answers changes which its own commands caused: it
 * would do so for ever, at the rate of the bridge.
 */
export class HomeCommandLimit {
  readonly #id: string;
  readonly #log: Pick<ModuleLog, "record">;
  readonly #rate: typeof USUAL;
  #tokens: number;
  #filledAt = performance.now();
  /** The times of the last own change of devices. */
  readonly #ownChanges = new Map<string, number>();
  #inRow = 0;
  #warnedAt = -Infinity;

  constructor({ id, log, manifest }: LimitedModule) {
    this.#id = id;
    this.#log = log;
    this.#rate = manifest.kinds.includes("automation") ? OF_AUTOMATIONS : USUAL;
    this.#tokens = this.#rate.burst;
  }

  /** Notes a change that the module gets. */
  noteChange(device: string, cause: Cause | undefined): void {
    if (cause?.kind === "module" && cause.id === this.#id) {
      this.#ownChanges.delete(device);
      this.#ownChanges.set(device, performance.now());
      const [oldest] = this.#ownChanges.keys();
      if (this.#ownChanges.size > MOST_CHANGES && oldest !== undefined)
        this.#ownChanges.delete(oldest);
    } else this.#ownChanges.delete(device);
  }

  /** Counts a command to a device or scene. @throws MantelError `rate_limited` */
  take(target: string): void {
    this.#watchLoop(target);
    const { perSecond, burst } = this.#rate;
    const now = performance.now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
    if (this.#tokens >= 1) return void this.#tokens--;
    throw new MantelError(
      "rate_limited",
      `${this.#id} sends more than ${perSecond} commands a second; send fewer, or one scene`,
      { retryAfterMs: 1000 / perSecond },
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

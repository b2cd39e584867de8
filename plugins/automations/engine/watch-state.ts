import type { Cause, StateValue } from "@mantel/plugin-sdk";
import type { Clock, EngineDevice } from "./automation.ts";
import type { TriggerOf } from "./document.ts";
import { startTimer, type Timer } from "./timer.ts";
import { isSame, isWithin, valueOf } from "./values.ts";
import type { DeviceChange, StoredWatch, WatchCallbacks } from "./watch.ts";

interface Options extends WatchCallbacks {
  readonly clock: Clock;
  readonly trigger: TriggerOf<"state">;
  readonly stored: StoredWatch | undefined;
}

/** A trigger of one field of a device. */
export class StateWatch {
  readonly #options: Options;
  /** For limits: true while the value is within them; `undefined` while it is unknown. */
  #isInside: boolean | undefined;
  /** Runs while the value has to stay. */
  #staying: Timer | undefined;

  constructor(options: Options, device: EngineDevice | undefined) {
    this.#options = options;
    const { clock, trigger, stored } = options;
    const value = valueOf(device, trigger.field);
    this.#isInside = stored?.isInside;
    if (value !== undefined) this.#isInside = this.#withHysteresis(value);
    if (stored?.dueAt === undefined || (device && !this.#isKept(value))) return;
    this.#stay(stored.dueAt - clock.now(), { to: value, from: undefined, cause: undefined });
  }

  changed({ device, old, cause }: DeviceChange): void {
    const { trigger } = this.#options;
    const to = valueOf(device, trigger.field);
    const from = valueOf(old, trigger.field);
    if (to === undefined || isSame(to, from)) return;
    if (this.#hasLimits) return this.#crossed(to, from, cause);
    const isMet = trigger.to === undefined || isSame(to, trigger.to);
    this.#leave();
    const isFrom = trigger.from === undefined || isSame(from, trigger.from);
    if (isMet && isFrom && from !== undefined) this.#met({ to, from, cause });
  }

  stop(): void {
    this.#staying?.stop();
    this.#staying = undefined;
  }

  /** The value did not stay. */
  #leave(): void {
    if (!this.#staying) return;
    this.stop();
    this.#options.changed();
  }

  stored(): StoredWatch | undefined {
    const leftMs = this.#staying?.leftMs();
    if (leftMs === undefined && this.#isInside === undefined) return undefined;
    return {
      ...(leftMs !== undefined && { dueAt: this.#options.clock.now() + leftMs }),
      ...(this.#isInside !== undefined && { isInside: this.#isInside }),
    };
  }

  get #hasLimits(): boolean {
    const { above, below } = this.#options.trigger;
    return above !== undefined || below !== undefined;
  }

  /** Fires when the value comes from outside the limits. The first known value only tells where it is. */
  #crossed(to: StateValue, from: StateValue | undefined, cause: Cause | undefined): void {
    const wasInside = this.#isInside;
    this.#isInside = this.#withHysteresis(to);
    if (!this.#isInside) this.#leave();
    if (wasInside !== this.#isInside) this.#options.changed();
    if (this.#isInside && wasInside === false) this.#met({ to, from, cause });
  }

  /** True within the limits, and after that until the value has left them by the hysteresis. */
  #withHysteresis(value: StateValue): boolean | undefined {
    const { above, below, hysteresis = 0 } = this.#options.trigger;
    const margin = this.#isInside ? hysteresis : 0;
    return isWithin(value, {
      ...(above !== undefined && { above: above - margin }),
      ...(below !== undefined && { below: below + margin }),
    });
  }

  /** True if a value that had to stay is still there. */
  #isKept(value: StateValue | undefined): boolean {
    const { to } = this.#options.trigger;
    if (this.#hasLimits) return this.#isInside === true;
    return to === undefined || isSame(value, to);
  }

  #met(change: Change): void {
    const { forMs = 0 } = this.#options.trigger;
    if (forMs > 0) this.#stay(forMs, change);
    else this.#fire(change);
  }

  #stay(ms: number, change: Change): void {
    this.#staying?.stop();
    this.#staying = startTimer(this.#options.clock, ms, () => {
      this.#staying = undefined;
      this.#options.changed();
      this.#fire(change);
    });
    this.#options.changed();
  }

  #fire({ to, from, cause }: Change): void {
    const { trigger, fire } = this.#options;
    const { device, field } = trigger;
    fire({
      type: "state",
      device,
      field,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(cause && { cause }),
    });
  }
}

interface Change {
  readonly to: StateValue | undefined;
  readonly from: StateValue | undefined;
  readonly cause: Cause | undefined;
}

import type { Clock, EngineHome, Stop } from "./automation.ts";
import { nextTime, type TimeTrigger } from "./next-time.ts";
import type { StoredWatch, WatchCallbacks } from "./watch.ts";

/** The clock is looked at this often, because it may be set, or the machine may sleep. */
const LOOK_MS = 60_000;
/** A time that is more than this late was missed. */
const LATE_MS = 60_000;
/** A clock that is set back by more has the times of that span again. */
const SET_BACK_MS = 60 * 60_000;
/** Times that were missed longer ago are not made up for. */
const LONGEST_MISSED_MS = 7 * 24 * 60 * 60_000;

interface Options extends WatchCallbacks {
  readonly clock: Clock;
  readonly home: Pick<EngineHome, "timeZone" | "coordinates">;
  readonly trigger: TimeTrigger;
  readonly stored: StoredWatch | undefined;
}

/** A trigger of the time: each of its times fires once. */
export class TimeWatch {
  readonly #options: Options;
  /** The next time; `undefined` if there are no more. */
  #dueAt: number | undefined;
  #handledUntil: number;
  #seenAt: number;
  #stop: Stop = () => undefined;

  constructor(options: Options) {
    this.#options = options;
    const now = options.clock.now();
    const from = Math.max(options.stored?.handledUntil ?? now, now - LONGEST_MISSED_MS);
    this.#handledUntil = from <= now + SET_BACK_MS ? from : now;
    this.#seenAt = now;
    this.#dueAt = this.#next(this.#handledUntil);
    this.#arm();
  }

  stop(): void {
    this.#stop();
  }

  stored(): StoredWatch {
    return { handledUntil: this.#handledUntil };
  }

  #arm(): void {
    if (this.#dueAt === undefined) return;
    const { clock } = this.#options;
    const leftMs = Math.max(0, this.#dueAt - clock.now());
    this.#stop = clock.after(Math.min(leftMs, LOOK_MS), () => this.#look());
  }

  #look(): void {
    const now = this.#options.clock.now();
    if (now < this.#seenAt - SET_BACK_MS) {
      this.#handledUntil = now;
      this.#dueAt = this.#next(now);
      this.#options.changed();
    }
    this.#seenAt = now;
    const dueAt = this.#dueAt;
    if (dueAt !== undefined && dueAt <= now) this.#due(dueAt, now);
    this.#arm();
  }

  #due(dueAt: number, now: number): void {
    const { trigger, fire, changed } = this.#options;
    const isMissed = now - dueAt > LATE_MS;
    // Of several missed times the last one counts.
    this.#handledUntil = isMissed ? now : dueAt;
    this.#dueAt = this.#next(this.#handledUntil, !isMissed);
    changed();
    if (!isMissed || trigger.missed === "once") fire({ type: trigger.type });
  }

  #next(after: number, isAfterTime = false): number | undefined {
    return nextTime(this.#options.trigger, after, this.#options.home, isAfterTime);
  }
}

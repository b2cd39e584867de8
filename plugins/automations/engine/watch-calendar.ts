import type { Clock, EngineCalendarEvent, Stop } from "./automation.ts";
import { isMeant } from "./conditions.ts";
import type { TriggerOf } from "./document.ts";
import type { Fire, StoredWatch } from "./watch.ts";

const LOOK_MS = 60_000;
/** Events that appear in a calendar later than this after their time are left out. */
const LATE_MS = 10 * 60_000;

interface Options {
  readonly clock: Clock;
  readonly trigger: TriggerOf<"calendar">;
  readonly fire: Fire;
  readonly stored: StoredWatch | undefined;
}

/** A trigger of the start or end of events. Each event fires once, also when it is moved by less than it is late. */
export class CalendarWatch {
  readonly #options: Options;
  /** Events that have fired, with the instants after which they are forgotten. */
  readonly #fired = new Map<string, number>();
  #events: readonly EngineCalendarEvent[] = [];
  #handledUntil: number;
  #stop: Stop = () => undefined;

  constructor(options: Options) {
    this.#options = options;
    const now = options.clock.now();
    this.#handledUntil = Math.min(
      now,
      Math.max(options.stored?.handledUntil ?? now, now - LATE_MS),
    );
  }

  setEvents(events: readonly EngineCalendarEvent[]): void {
    this.#events = events.filter((event) => isMeant(this.#options.trigger, event));
    this.#look();
  }

  stop(): void {
    this.#stop();
  }

  stored(): StoredWatch {
    return { handledUntil: this.#options.clock.now() }; // the events that fired are not stored
  }

  #look(): void {
    this.#stop();
    const { clock, fire } = this.#options;
    const now = clock.now();
    let next = Infinity;
    for (const event of this.#events) {
      const instant = this.#instantOf(event);
      const key = `${event.id} ${event.start}`;
      if (instant > now) next = Math.min(next, instant);
      else if (instant > this.#handledUntil && !this.#fired.has(key)) {
        this.#fired.set(key, now + 2 * LATE_MS);
        fire({ type: "calendar", title: event.title });
      }
    }
    for (const [key, until] of this.#fired) if (until < now) this.#fired.delete(key);
    // The last minutes stay open for events that a calendar brings late.
    this.#handledUntil = Math.min(now, Math.max(this.#handledUntil, now - LATE_MS));
    if (this.#events.length === 0) return;
    this.#stop = clock.after(Math.min(next - now, LOOK_MS), () => this.#look());
  }

  #instantOf({ start, end }: EngineCalendarEvent): number {
    const { edge = "start", offsetMs = 0 } = this.#options.trigger;
    return (edge === "start" ? start : end) + offsetMs;
  }
}

import type { Clock, EngineCalendarEvent, Stop } from "./automation.ts";
import { isMeant } from "./conditions.ts";
import type { TriggerOf } from "./document.ts";
import type { StoredWatch, WatchCallbacks } from "./watch.ts";

const MINUTE_MS = 60_000;
const LOOK_MS = MINUTE_MS;
/** Events that appear in a calendar later than this after their time are left out. */
const LATE_MS = 10 * MINUTE_MS;
/** The time until which events were handled is stored this often, and whenever one fires. */
const STORE_MS = 5 * MINUTE_MS;
/** Events that were missed longer ago are not made up for. */
const LONGEST_MISSED_MS = 7 * 24 * 60 * MINUTE_MS;

interface Options extends WatchCallbacks {
  readonly clock: Clock;
  readonly trigger: TriggerOf<"calendar">;
  readonly stored: StoredWatch | undefined;
}

/** A trigger of the start or end of events. Each event fires once, also when it is moved by less than it is late. */
export class CalendarWatch {
  readonly #options: Options;
  /** Events that have fired, with the instants after which they are forgotten. */
  readonly #fired: Map<string, number>;
  #events: readonly EngineCalendarEvent[] = [];
  #handledUntil: number;
  #storedAt: number;
  /** The begin of the time in which nothing ran; `undefined` once its events were looked for. */
  #missedSince: number | undefined;
  #stop: Stop = () => undefined;

  constructor(options: Options) {
    this.#options = options;
    const now = options.clock.now();
    const { handledUntil = now, fired = {} } = options.stored ?? {};
    this.#fired = new Map(Object.entries(fired));
    if (handledUntil < now - LATE_MS) this.#missedSince = handledUntil;
    this.#handledUntil = Math.min(now, Math.max(handledUntil, now - LATE_MS));
    this.#storedAt = now;
  }

  setEvents(events: readonly EngineCalendarEvent[]): void {
    this.#events = events.filter((event) => isMeant(this.#options.trigger, event));
    this.#look();
  }

  stop(): void {
    this.#stop();
  }

  stored(): StoredWatch {
    const handledUntil = this.#missedSince ?? this.#handledUntil;
    return { handledUntil, fired: Object.fromEntries(this.#fired) };
  }

  #look(): void {
    this.#stop();
    const { clock } = this.#options;
    const now = clock.now();
    const due = this.#events.filter((event) => {
      const instant = this.#instantOf(event);
      return instant > this.#handledUntil && instant <= now && !this.#fired.has(keyOf(event));
    });
    this.#fire(due.length > 0 ? due : this.#missed(), now);
    if (this.#events.length === 0) return;
    const later = this.#events.map((event) => this.#instantOf(event)).filter((at) => at > now);
    const nextMs = Math.min(LOOK_MS, ...later.map((at) => at - now));
    this.#stop = clock.after(nextMs, () => this.#look());
  }

  #fire(events: readonly EngineCalendarEvent[], now: number): void {
    const { changed, fire } = this.#options;
    for (const event of events) this.#fired.set(keyOf(event), now + 2 * LATE_MS);
    for (const [key, until] of this.#fired) if (until < now) this.#fired.delete(key);
    // The last minutes stay open for events that a calendar brings late.
    this.#handledUntil = Math.min(now, Math.max(this.#handledUntil, now - LATE_MS));
    if (this.#events.length > 0) this.#missedSince = undefined;
    if (events.length > 0 || now - this.#storedAt >= STORE_MS) {
      this.#storedAt = now;
      changed();
    }
    for (const { title } of events) fire({ type: "calendar", title });
  }

  /** The last event of the time in which nothing ran, if it is made up for. */
  #missed(): readonly EngineCalendarEvent[] {
    const { trigger, clock } = this.#options;
    if (this.#missedSince === undefined || trigger.missed !== "once") return [];
    const from = Math.max(this.#missedSince, clock.now() - LONGEST_MISSED_MS);
    return this.#events
      .filter((event) => {
        const instant = this.#instantOf(event);
        return instant > from && instant <= this.#handledUntil && !this.#fired.has(keyOf(event));
      })
      .toSorted((a, b) => this.#instantOf(a) - this.#instantOf(b))
      .slice(-1);
  }

  #instantOf({ start, end }: EngineCalendarEvent): number {
    const { edge = "start", offsetMs = 0 } = this.#options.trigger;
    return (edge === "start" ? start : end) + offsetMs;
  }
}

const keyOf = ({ id, start }: EngineCalendarEvent) => `${id} ${start}`;

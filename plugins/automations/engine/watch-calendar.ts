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

/** A time at which the trigger fires for an event. */
interface Due {
  /** The same at each reading of the calendars. */
  readonly key: string;
  readonly at: number;
  readonly title: string;
}

/**
 * A trigger of the start, end or reminders of events. Each of them fires once, also when it is moved by less than it is
 * late.
 */
export class CalendarWatch {
  readonly #options: Options;
  /** Keys of what has fired, with the instants after which they are forgotten. */
  readonly #fired: Map<string, number>;
  #times: readonly Due[] = [];
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
    const meant = events.filter((event) => isMeant(this.#options.trigger, event));
    this.#times = meant.flatMap((event) => this.#timesOf(event));
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
    const due = this.#times.filter(
      ({ key, at }) => at > this.#handledUntil && at <= now && !this.#fired.has(key),
    );
    this.#fire(due.length > 0 ? due : this.#missed(), now);
    if (this.#times.length === 0) return;
    const later = this.#times.map(({ at }) => at).filter((at) => at > now);
    const nextMs = Math.min(LOOK_MS, ...later.map((at) => at - now));
    this.#stop = clock.after(nextMs, () => this.#look());
  }

  #fire(due: readonly Due[], now: number): void {
    const { changed, fire } = this.#options;
    for (const { key } of due) this.#fired.set(key, now + 2 * LATE_MS);
    for (const [key, until] of this.#fired) if (until < now) this.#fired.delete(key);
    // The last minutes stay open for events that a calendar brings late.
    this.#handledUntil = Math.min(now, Math.max(this.#handledUntil, now - LATE_MS));
    if (this.#times.length > 0) this.#missedSince = undefined;
    if (due.length > 0 || now - this.#storedAt >= STORE_MS) {
      this.#storedAt = now;
      changed();
    }
    for (const { title } of due) fire({ type: "calendar", title });
  }

  /** The last event of the time in which nothing ran, if it is made up for. */
  #missed(): readonly Due[] {
    const { trigger, clock } = this.#options;
    if (this.#missedSince === undefined || trigger.missed !== "once") return [];
    const from = Math.max(this.#missedSince, clock.now() - LONGEST_MISSED_MS);
    return this.#times
      .filter(({ key, at }) => at > from && at <= this.#handledUntil && !this.#fired.has(key))
      .toSorted((a, b) => a.at - b.at)
      .slice(-1);
  }

  #timesOf({ id, title, start, end, reminders = [] }: EngineCalendarEvent): Due[] {
    const { edge = "start", offsetMs = 0 } = this.#options.trigger;
    const key = `${id} ${start}`;
    if (edge === "reminder") {
      return reminders.map((at) => ({ key: `${key} ${at}`, at: at + offsetMs, title }));
    }
    return [{ key, at: (edge === "start" ? start : end) + offsetMs, title }];
  }
}

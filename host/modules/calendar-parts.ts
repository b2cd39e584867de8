import { CalendarPart, type CalendarWindow, PartedWindow } from "@mantel/plugin-sdk/calendar";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { check } from "../validate.ts";

/** Parts of one window and of the next, while that arrives: 200,000 events. */
const MAX_PARTS = 1_000;

/**
 * Calendar windows of one generation, put together from parts that came before. An event that is in two
 * windows is the same object in both, so comparing them takes no time.
 */
export class CalendarParts {
  #held = new Map<string, CalendarPart["events"]>();

  /** @throws MantelError `invalid` for what is no part, and for more parts than windows have */
  take(input: unknown, from: string): void {
    const { hash, events } = check(CalendarPart, input, `a part of calendar.window of ${from}`);
    if (this.#held.size >= MAX_PARTS) {
      throw new MantelError(
        "invalid",
        `${from} has sent ${MAX_PARTS} parts of a calendar window: publish fewer events`,
      );
    }
    this.#held.set(hash, events);
  }

  /**
   * The whole window. Parts that it does not name are forgotten.
   * @throws MantelError `invalid` for what is no window, and when a part of it has not come
   */
  assemble(input: unknown, from: string): CalendarWindow {
    const { parts, ...rest } = check(PartedWindow, input, `calendar.window of ${from}`);
    const named = new Map(parts.map((hash) => [hash, this.#eventsOf(hash, from)]));
    this.#held = named;
    return { ...rest, events: parts.flatMap((hash) => named.get(hash) ?? []) };
  }

  #eventsOf(hash: string, from: string): CalendarPart["events"] {
    const events = this.#held.get(hash);
    if (events) return events;
    throw new MantelError(
      "invalid",
      `calendar.window of ${from} names a part that was not sent: ${hash}`,
    );
  }
}

import { CalendarPart, type CalendarWindow, PartedWindow } from "@mantel/plugin-sdk/calendar";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { check } from "../../validate.ts";

/** Parts of the current window and of the next one while it arrives: 200,000 events. */
const MAX_PARTS = 1_000;
/** Characters of all events of those parts. */
const MAX_TEXT = 64 * 2 ** 20;

/**
 * Assembles the calendar windows of one generation from parts sent earlier. An event in two windows
 * is the same object in both, so comparing them is fast.
 */
export class CalendarChunks {
  #parts = new Map<string, CalendarPart["events"]>();
  /** Characters of the stored events. */
  #text = 0;

  /** @throws MantelError `invalid` for an invalid part, and for more parts than windows have */
  take(input: unknown, from: string): void {
    const { hash, events } = check(CalendarPart, input, `a part of calendar.window of ${from}`);
    if (this.#parts.size >= MAX_PARTS) {
      throw new MantelError(
        "invalid",
        `calendar.window of ${from} has more than ${MAX_PARTS} parts; publish fewer events`,
      );
    }
    this.#text += textOf(events);
    if (this.#text > MAX_TEXT) {
      const most = `${MAX_TEXT / 2 ** 20} million characters of calendar events`;
      throw new MantelError(
        "invalid",
        `calendar.window of ${from} has over ${most}; publish fewer or shorter ones`,
      );
    }
    this.#parts.set(hash, events);
  }

  /**
   * Assembles the whole window. Parts that it does not name are removed.
   * @throws MantelError `invalid` for an invalid window, and if one of its parts was not sent
   */
  assemble(input: unknown, from: string): CalendarWindow {
    const { parts, ...rest } = check(PartedWindow, input, `calendar.window of ${from}`);
    const named = new Map(parts.map((hash) => [hash, this.#eventsOf(hash, from)]));
    this.#parts = named;
    this.#text = [...named.values()].reduce((all, events) => all + textOf(events), 0);
    return { ...rest, events: parts.flatMap((hash) => named.get(hash) ?? []) };
  }

  #eventsOf(hash: string, from: string): CalendarPart["events"] {
    const events = this.#parts.get(hash);
    if (events) return events;
    throw new MantelError(
      "invalid",
      `calendar.window of ${from} names a part that was not sent: ${hash}`,
    );
  }
}

function textOf(events: CalendarPart["events"]): number {
  return events.reduce((all, event) => {
    const values: unknown[] = [...Object.values(event), ...(event.categories ?? [])];
    const texts = values.filter((each) => typeof each === "string");
    return texts.reduce((sum, each) => sum + each.length, all);
  }, 0);
}

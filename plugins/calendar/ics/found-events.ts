import { type CalendarEvent, MantelError, type Sentence, sentence } from "@mantel/plugin-sdk";

type Part = readonly CalendarEvent[];

/** Maximum events of one calendar in one window: every hour of 416 days. */
const MAX_EVENTS = 10_000;
const MOST = { most: MAX_EVENTS };

/** Maximum of left-out events, after which expansion stops. */
const MAX_LEFT_OUT = 50_000;

/**
 * Collects the events of a calendar, series by series. If there are too many, the series with the
 * most occurrences is left out, because it is likely a mistake or an attack.
 */
export class FoundEvents {
  readonly #parts = new Set<Part>();
  #largest: Part = [];
  #count = 0;
  #leftOut = 0;

  /**
   * Returns a reason for each series that was left out.
   * @throws MantelError `invalid` for far too many
   */
  add(part: Part): Sentence[] {
    if (this.#count + part.length > MAX_EVENTS && part.length >= this.#largest.length) {
      return [this.#leaveOut(part)];
    }
    this.#parts.add(part);
    this.#count += part.length;
    if (part.length > this.#largest.length) this.#largest = part;
    const reasons: Sentence[] = [];
    while (this.#count > MAX_EVENTS) reasons.push(this.#dropLargest());
    return reasons;
  }

  get hasLeftOut(): boolean {
    return this.#leftOut > 0;
  }

  /** The events without duplicates: of events with one id the last counts. */
  events(): CalendarEvent[] {
    return [...new Map([...this.#parts].flat().map((event) => [event.id, event])).values()];
  }

  #dropLargest(): Sentence {
    const dropped = this.#largest;
    this.#parts.delete(dropped);
    this.#count -= dropped.length;
    this.#largest = [];
    for (const part of this.#parts) if (part.length > this.#largest.length) this.#largest = part;
    return this.#leaveOut(dropped);
  }

  #leaveOut(part: Part): Sentence {
    this.#leftOut += part.length;
    if (this.#leftOut <= MAX_LEFT_OUT) return reasonFor(part);
    throw new MantelError(
      "invalid",
      sentence("far_too_many_then", "there are far more than {most} events at that time", MOST),
    );
  }
}

function reasonFor({ length }: Part): Sentence {
  if (length === 1) {
    return sentence("too_many_then", "there are over {most} events at that time", MOST);
  }
  return sentence(
    "no_room_then",
    "an event with {count} occurrences has no room among the others: {most} are shown",
    { ...MOST, count: length },
  );
}

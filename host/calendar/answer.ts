import type { CalendarSource } from "@mantel/plugin-sdk/calendar";
import type { TimedEvent } from "./select.ts";

/** The answer of `GET /calendar/events`. */
export interface CalendarAnswer {
  readonly window: { readonly start: string; readonly end: string; readonly timeZone: string };
  /** By start; dates come before times at the same instant. */
  readonly events: readonly TimedEvent[];
  readonly sources: readonly CalendarSource[];
  /** True if more events than `limit` are in the window. */
  readonly truncated: boolean;
  /** False if a source could not be read, or its events of the window are not all worked out. */
  readonly complete: boolean;
}

const COMMA = Buffer.from(",");

/** Writes answers as JSON. Reuses the text of events that were in the previous answer, as most are. */
export class AnswerWriter {
  #events: readonly TimedEvent[] = [];
  #written = Buffer.alloc(0);

  json({ events, ...rest }: CalendarAnswer): Buffer {
    if (
      events.length !== this.#events.length ||
      events.some((each, at) => each !== this.#events[at])
    ) {
      this.#written = Buffer.concat(
        events.flatMap(({ json }, at) => (at === 0 ? [json] : [COMMA, json])),
      );
      this.#events = events;
    }
    const tail = `],${JSON.stringify(rest).slice(1)}`;
    return Buffer.concat([Buffer.from('{"events":['), this.#written, Buffer.from(tail)]);
  }
}

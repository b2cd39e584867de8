import { Birthdays } from "./ics/birthdays.ts";
import { type Expansion, Feed } from "./ics/feed.ts";
import type { Span } from "./ics/series.ts";
import { isVcard } from "./ics/vcard.ts";
import type { Zone } from "./ics/zones.ts";
import type { CalendarMarking } from "./view.ts";

/** The content of a calendar: events, birthdays of contacts, or both. */
export class Content {
  /** The name in the calendar itself. */
  readonly name: string | undefined;
  readonly color: string | undefined;
  /** The reason why a readable calendar has no events. */
  readonly remark: string | undefined;
  readonly #parts: readonly (Feed | Birthdays)[];

  /**
   * @param texts each contains iCalendar or vCards
   * @throws MantelError `invalid` if one of them is neither, or is too large
   */
  static async read(texts: readonly Uint8Array[], floating: Zone): Promise<Content> {
    const parts: (Feed | Birthdays)[] = [];
    for (const text of texts) {
      parts.push(isVcard(text) ? new Birthdays(text) : await Feed.read(text, floating));
    }
    return new Content(parts);
  }

  private constructor(parts: readonly (Feed | Birthdays)[]) {
    this.name = parts.find(({ name }) => name !== undefined)?.name;
    this.color = parts.find(({ color }) => color !== undefined)?.color;
    this.remark = parts.find(({ remark }) => remark !== undefined)?.remark;
    this.#parts = parts;
  }

  async eventsIn(span: Span, marking: CalendarMarking): Promise<Expansion> {
    const all = await Promise.all(this.#parts.map((part) => part.eventsIn(span, marking)));
    return {
      events: all.flatMap(({ events }) => events),
      skipped: all.reduce((sum, { skipped }) => sum + skipped, 0),
      simplified: all.reduce((sum, { simplified }) => sum + simplified, 0),
      reason: all.find(({ reason }) => reason !== undefined)?.reason,
      isPartial: all.some(({ isPartial }) => isPartial),
    };
  }
}

import { Birthdays } from "./ics/birthdays.ts";
import { type Expansion, Feed, type FeedContext } from "./ics/feed.ts";
import type { Span } from "./ics/series.ts";
import type { ParsedFile } from "./parsed-file.ts";
import type { CalendarMarking } from "./view.ts";

/** The content of a calendar: events, birthdays of contacts, or both. */
export class Content {
  readonly #feed: Feed | undefined;
  readonly #birthdays: Birthdays | undefined;

  /**
   * @param previous the content before, whose unchanged events are not worked out again
   * @throws MantelError `invalid` if it is too large
   */
  static async of(
    files: readonly ParsedFile[],
    context: FeedContext,
    previous?: Content,
  ): Promise<Content> {
    const calendars = files.flatMap((file) => file.calendars);
    const contacts = files.flatMap((file) => file.contacts ?? []);
    const isFeed = calendars.length > 0;
    const before = previous ? previous.#feed : undefined;
    const feed = isFeed ? await Feed.of(calendars, context, before) : undefined;
    return new Content(feed, contacts.length > 0 ? new Birthdays(contacts) : undefined);
  }

  private constructor(feed: Feed | undefined, birthdays: Birthdays | undefined) {
    this.#feed = feed;
    this.#birthdays = birthdays;
  }

  /** The name in the calendar itself. */
  get name() {
    return this.#feed?.name;
  }

  get color() {
    return this.#feed?.color;
  }

  /** The reason why a readable calendar has no events. */
  get remark() {
    return this.#feed?.remark;
  }

  /** @param isKept true for a span that is asked for again when some events have changed */
  async eventsIn(span: Span, marking: CalendarMarking, isKept = false): Promise<Expansion> {
    const parts = [this.#feed, this.#birthdays].filter((part) => part !== undefined);
    const all = await Promise.all(parts.map((part) => part.eventsIn(span, marking, isKept)));
    return {
      events: all.flatMap(({ events }) => events),
      skipped: all.reduce((sum, { skipped }) => sum + skipped, 0),
      simplified: all.reduce((sum, { simplified }) => sum + simplified, 0),
      reason: all.find(({ reason }) => reason !== undefined)?.reason,
      isPartial: all.some(({ isPartial }) => isPartial),
    };
  }
}

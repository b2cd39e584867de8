import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk";
import type { CalendarWindow } from "@mantel/plugin-sdk/calendar";
import { lacksEvents } from "./completeness.ts";
import { hasValidBounds, eventText, feedHead, timestampLine, FEED_END } from "./feed-text.ts";

/** All calendars as one iCalendar file. */
export interface FeedFile {
  readonly body: Buffer;
  /** An entity tag, which changes with the file. */
  readonly etag: string;
}

type Contents = Pick<CalendarWindow, "events" | "sources">;

const NAME = "Mantel";
const REFRESH_MINUTES = 15;
const RETRY_AFTER_MS = 5_000;
/** The events that are written before other work gets its turn. */
const SLICE = 200;

/**
 * The published calendars as iCalendar (RFC 5545), for phones and other programs that subscribe.
 * It is written at the first request after a change, and then cached.
 */
export class CalendarFeed {
  #window: Contents | undefined;
  #written: { readonly window: Contents; readonly file: Promise<FeedFile> } | undefined;
  /** The last content, and the time of its change. */
  #last = { hash: "", at: 0, file: undefined as FeedFile | undefined };

  /** Stores the contents; `undefined` if no module provides calendars. */
  accept(contents: Contents | undefined): void {
    this.#window = contents;
    if (!contents) this.#written = undefined;
  }

  /**
   * @throws MantelError `service_unavailable` while the calendars are not all read and worked out: a phone would drop
   * the events that are missing
   */
  current(): Promise<FeedFile> {
    const window = this.#window;
    if (!window) {
      throw new MantelError("service_unavailable", "no calendars have been read yet", {
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    const lacking = window.sources.filter(lacksEvents).map(({ name }) => name);
    if (lacking.length > 0) {
      const sentence = `not all events of ${lacking.slice(0, 3).join(", ")} are ready`;
      throw new MantelError("service_unavailable", sentence, { retryAfterMs: RETRY_AFTER_MS });
    }
    if (this.#written?.window !== window) this.#written = { window, file: this.#write(window) };
    return this.#written.file;
  }

  async #write({ events, sources }: Contents): Promise<FeedFile> {
    const names = new Map(sources.map(({ id, name }) => [id, name]));
    const hash = createHash("sha256");
    const texts: [string, string][] = [];
    for (const event of events) {
      if (!hasValidBounds(event)) continue;
      const text = eventText(event, names.get(event.calendarId) ?? event.calendarId);
      hash.update(text.join(""));
      texts.push(text);
      if (texts.length % SLICE === 0) await setImmediate();
    }
    return this.#stamped(texts, hash.digest("base64url").slice(0, 22));
  }

  /** Adds the stamp of each event: the time of its last change (RFC 5545, 3.8.7.2). */
  #stamped(texts: readonly [string, string][], hash: string): FeedFile {
    if (this.#last.file && this.#last.hash === hash) return this.#last.file;
    const at = Date.now();
    const stamp = timestampLine(at);
    const events = texts.map(([before, after]) => before + stamp + after);
    const body = Buffer.from(feedHead(NAME, REFRESH_MINUTES) + events.join("") + FEED_END);
    const file = { body, etag: `"${hash}-${at.toString(36)}"` };
    this.#last = { hash, at, file };
    return file;
  }
}

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  type CalendarChange,
  type CalendarChanged,
  type CalendarEvent,
  MantelError,
  SerialQueue,
} from "@mantel/plugin-sdk";
import { EditedObject } from "./ics/change-event.ts";
import { invalid } from "./ics/event-text.ts";
import { Feed } from "./ics/feed.ts";
import { type ChangeContext, newObject } from "./ics/new-event.ts";
import type { Zone } from "./ics/zones.ts";
import { parsePhrase } from "./phrase.ts";
import type { WritableCalendar } from "./web/account.ts";
import type { StoredObject } from "./web/dav.ts";

interface WriterParts {
  /** The calendar with this id; `undefined` for one that is only read. */
  readonly find: (id: string) => WritableCalendar | undefined;
  readonly has: (id: string) => boolean;
  /** Publishes what was read. */
  readonly publish: () => Promise<void>;
  readonly zone: Zone;
  /** BCP 47, for events in words; absent means English. */
  readonly locale?: string;
  readonly now?: () => number;
  /** Pauses before looking again at a server that did not answer. */
  readonly pausesMs?: readonly number[];
}

/** Attempts if others change the same event at the same time. */
const MAX_ATTEMPTS = 5;
const PAUSES_MS = [250, 500, 1_000, 2_000, 4_000];
/** A year before 1900 or after 2199 is a typing error. */
const EVER = { from: Date.UTC(1900, 0), to: Date.UTC(2200, 0) };
const DAY_MS = 86_400_000;

type Change<A extends CalendarChange["action"]> = Extract<CalendarChange, { action: A }>;

/** An event of a calendar, at its server. */
interface Found extends StoredObject {
  readonly url: string;
}

/**
 * Changes events in CalDAV calendars. A change is told as saved only if its server has confirmed it; after a lost
 * answer it looks at the server, so that nothing is saved twice.
 */
export class Writer {
  readonly #parts: WriterParts;
  /** Changes of one event follow each other, by calendar and UID. */
  readonly #turns = new Map<string, { readonly queue: SerialQueue; waiting: number }>();

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /**
   * @throws MantelError `not_found`, `invalid`; `conflict` for a calendar that is only read; `revision_stale`;
   * `service_unavailable` if nothing was saved; `outcome_unknown` if the server does not tell
   */
  async change(change: CalendarChange): Promise<CalendarChanged> {
    const calendar = this.#calendar(change.calendarId);
    if (change.action === "create") return this.#create(calendar, change);
    const { uid, origin } = partsOf(change.event);
    return this.#inTurn(`${change.calendarId}/${uid}`, async () => {
      for (let attempt = 1; ; attempt++) {
        const found = await this.#load(calendar, uid);
        if (change.action === "read") {
          const event = await eventIn(found.bytes, { calendar, uid, origin }, this.#parts.zone);
          if (event) return { event, etag: found.etag ?? null };
          throw missing(change.event);
        }
        requireMatch(change.ifMatch, found.etag);
        try {
          return change.action === "update"
            ? await this.#update(calendar, found, change)
            : await this.#remove(calendar, found, change);
        } catch (error) {
          const isStale = error instanceof MantelError && error.code === "revision_stale";
          if (!isStale || change.ifMatch !== undefined || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    });
  }

  async #create(calendar: WritableCalendar, change: Change<"create">): Promise<CalendarChanged> {
    const { locale = "en", zone } = this.#parts;
    const { now } = this.#context;
    const fields =
      "text" in change ? parsePhrase(change.text, { locale, zone, now }) : change.fields;
    if (!fields) {
      throw invalid("/text", "no day or time is understood: write as in Tomorrow 9 dentist");
    }
    const { uid, bytes } = newObject(fields, this.#context);
    const event = await eventIn(bytes, { calendar, uid }, this.#parts.zone);
    if (!event) throw new MantelError("invalid", "the event has no occurrence from 1900 to 2199");
    const url = addressOf(calendar, uid);
    const etag = await this.#store(calendar, { url, bytes });
    await this.#show(calendar);
    return { event, etag };
  }

  async #update(
    calendar: WritableCalendar,
    found: Found,
    { event: id, scope, fields, moveTo }: Change<"update">,
  ): Promise<CalendarChanged> {
    const { uid, origin } = partsOf(id);
    const edited = await EditedObject.read(found.bytes, origin, this.#context);
    const target = moveTo === undefined ? calendar : this.#calendar(moveTo);
    if (target !== calendar && target.url !== calendar.url) {
      return this.#move(calendar, found, {
        target,
        uid,
        bytes: edited.update("all", fields).changed,
      });
    }
    const { changed, added } = edited.update(scope, fields);
    const start = fields.start;
    const near = start && ("date" in start ? start.date : start.dateTime);
    const shown = added ? { uid: added.uid, bytes: added.bytes } : { uid, bytes: changed };
    const place = { calendar, uid: shown.uid, origin: added ? undefined : origin, near };
    const event = await eventIn(shown.bytes, place, this.#parts.zone);
    if (!event)
      throw new MantelError("invalid", "the change would leave no occurrence of the event");
    const addedUrl = added && addressOf(calendar, added.uid);
    if (added && addedUrl) await this.#store(calendar, { url: addedUrl, bytes: added.bytes });
    const etag = await this.#store(calendar, { ...found, bytes: changed, before: found }).catch(
      async (error: unknown) => {
        if (addedUrl && isRefused(error)) await calendar.server.erase(addedUrl, undefined);
        throw error;
      },
    );
    await this.#show(calendar);
    return { event, etag };
  }

  /** Moves an event to another calendar. It is never in none of them. */
  async #move(
    calendar: WritableCalendar,
    found: Found,
    { target, uid, bytes }: { target: WritableCalendar; uid: string; bytes: Buffer },
  ): Promise<CalendarChanged> {
    const url = addressOf(target, uid);
    const etag = await this.#store(target, { url, bytes });
    await this.#erase(calendar, found).catch(async (error: unknown) => {
      if (isRefused(error)) await target.server.erase(url, undefined);
      throw error;
    });
    await Promise.all([this.#show(calendar), this.#show(target)]);
    const event = await eventIn(bytes, { calendar: target, uid }, this.#parts.zone);
    return { event: event ?? null, etag };
  }

  async #remove(
    calendar: WritableCalendar,
    found: Found,
    { event: id, scope }: Change<"remove">,
  ): Promise<CalendarChanged> {
    const { origin } = partsOf(id);
    const edited = await EditedObject.read(found.bytes, origin, this.#context);
    const bytes = edited.remove(scope);
    const etag = bytes ? await this.#store(calendar, { ...found, bytes, before: found }) : null;
    if (!bytes) await this.#erase(calendar, found);
    await this.#show(calendar);
    return { event: null, etag };
  }

  get #context(): ChangeContext {
    const { zone, now = Date.now } = this.#parts;
    return { zone, now: now(), newUid: randomUUID };
  }

  #calendar(id: string): WritableCalendar {
    const calendar = this.#parts.find(id);
    if (calendar && !calendar.source.isPrivate) return calendar;
    if (!this.#parts.has(id)) throw new MantelError("not_found", `there is no calendar ${id}`);
    const why = calendar ? "it shows only that there is something" : "only CalDAV calendars can be";
    throw new MantelError("conflict", `the calendar ${id} cannot be changed here: ${why}`);
  }

  async #load(calendar: WritableCalendar, uid: string): Promise<Found> {
    const path = await calendar.pathOf(uid);
    const url = path === undefined ? addressOf(calendar, uid) : new URL(path, calendar.url).href;
    const stored = await this.#patiently(() => calendar.server.load(url));
    if (stored) return { ...stored, url };
    throw missing(uid);
  }

  /** Asks again for a while if a server does not answer, such as during its restart. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (const pause of this.#parts.pausesMs ?? PAUSES_MS) {
      try {
        return await ask();
      } catch (error) {
        if (!isLost(error)) throw error;
        await delay(pause);
      }
    }
    return ask();
  }

  /** Returns the new entity tag; null if the server has none. */
  async #store(
    { server }: WritableCalendar,
    { url, bytes, before }: { url: string; bytes: Uint8Array; before?: Found },
  ): Promise<string | null> {
    const isThere = (now: StoredObject | undefined) =>
      now !== undefined && (before === undefined || stampIn(now.bytes) === stampIn(bytes));
    const etag = await this.#certain(
      () => server.store(url, bytes, before && (before.etag ?? "*")),
      () => server.load(url),
      { isDone: isThere, isUntouched: (now) => now?.etag === before?.etag },
    );
    return etag ?? (await server.load(url).catch(() => undefined))?.etag ?? null;
  }

  async #erase({ server }: WritableCalendar, { url, etag }: Found): Promise<void> {
    await this.#certain(
      async () => {
        await server.erase(url, etag);
        return undefined;
      },
      () => server.load(url),
      { isDone: (now) => now === undefined, isUntouched: (now) => now?.etag === etag },
    );
  }

  /** Does something at a server once, and finds out if it was done when the answer is lost. */
  async #certain(
    act: () => Promise<string | undefined>,
    look: () => Promise<StoredObject | undefined>,
    state: Record<"isDone" | "isUntouched", (now: StoredObject | undefined) => boolean>,
  ): Promise<string | undefined> {
    try {
      return await act();
    } catch (lost) {
      if (!isLost(lost)) throw lost;
    }
    for (const pause of this.#parts.pausesMs ?? PAUSES_MS) {
      await delay(pause);
      try {
        const now = await look();
        if (state.isDone(now)) return now?.etag;
        if (!state.isUntouched(now)) break;
        return await act();
      } catch (error) {
        const isRace = error instanceof MantelError && error.code === "revision_stale";
        if (!isLost(error) && !isRace) throw error; // a race may be with our own first request
      }
    }
    throw new MantelError(
      "outcome_unknown",
      "the server does not answer, so the change may or may not be saved",
    );
  }

  /** What is saved stays saved if it cannot be shown now; the next poll shows it. */
  async #show(calendar: WritableCalendar): Promise<void> {
    await calendar.readChanges().catch(() => undefined);
    await this.#parts.publish();
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(key) ?? { queue: new SerialQueue(), waiting: 0 };
    this.#turns.set(key, turn);
    turn.waiting++;
    try {
      return await turn.queue.take(work);
    } finally {
      if (--turn.waiting === 0) this.#turns.delete(key);
    }
  }
}

/** The UID and the start in an id, which the last slash separates. */
function partsOf(id: string): { readonly uid: string; readonly origin: string } {
  const at = id.lastIndexOf("/");
  if (at > 0) return { uid: id.slice(0, at), origin: id.slice(at + 1) };
  throw missing(id);
}

function missing(id: string): MantelError {
  return new MantelError("not_found", `there is no event ${id.slice(0, 100)}`);
}

function addressOf({ url }: WritableCalendar, uid: string): string {
  return new URL(`${encodeURIComponent(uid)}.ics`, url.endsWith("/") ? url : `${url}/`).href;
}

function requireMatch(wanted: string | undefined, etag: string | undefined): void {
  if (wanted === undefined || wanted.trim() === "*" || wanted.trim() === etag) return;
  throw new MantelError("revision_stale", "the event was changed meanwhile: read it again");
}

/** True if it is not known what the server has done. */
function isLost(error: unknown): boolean {
  if (!(error instanceof MantelError)) return false;
  return error.code === "deadline_passed" || error.code === "service_unavailable";
}

function isRefused(error: unknown): boolean {
  return error instanceof MantelError && error.code !== "outcome_unknown";
}

/** What every change sets anew. */
function stampIn(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("latin1");
  return (text.match(/^(?:SEQUENCE|LAST-MODIFIED):.*$/gim) ?? [])
    .map((each) => each.trim())
    .toSorted()
    .join();
}

interface EventPlace {
  readonly calendar: WritableCalendar;
  readonly uid: string;
  /** The start that its series gives it; absent for the first. */
  readonly origin?: string | undefined;
  /** A new start, for a series whose occurrences have other starts now. */
  readonly near?: string | undefined;
}

/** An event as the object shows it. */
async function eventIn(
  bytes: Uint8Array,
  { calendar, uid, origin, near }: EventPlace,
  zone: Zone,
): Promise<CalendarEvent | undefined> {
  const { id, color } = calendar.source.view();
  const feed = await Feed.read(bytes, zone);
  for (const text of [origin, near]) {
    if (text === undefined) continue;
    const at = Date.parse(text);
    const around = { from: at - 2 * DAY_MS, to: at + 2 * DAY_MS };
    const { events } = await feed.eventsIn(around, { calendarId: id, color });
    const found = events.find(
      (each) => each.uid === uid && (each.id.endsWith(`/${text}`) || startOf(each) === at),
    );
    if (found) return found;
  }
  const { events } = await feed.eventsIn(EVER, { calendarId: id, color });
  const all = events.filter((each) => each.uid === uid);
  return origin === undefined || near !== undefined
    ? all.toSorted((a, b) => startOf(a) - startOf(b))[0]
    : all.find((each) => each.id.endsWith(`/${origin}`));
}

function startOf({ start }: CalendarEvent): number {
  return Date.parse("date" in start ? start.date : start.dateTime);
}

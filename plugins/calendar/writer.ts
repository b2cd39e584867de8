import {
  type CalendarChange,
  type CalendarChanged,
  type CalendarEvent,
  MantelError,
} from "@mantel/plugin-sdk";
import { EditedObject } from "./ics/change-event.ts";
import { invalid } from "./ics/event-text.ts";
import { Feed } from "./ics/feed.ts";
import { type ChangeContext, newObject } from "./ics/new-event.ts";
import type { Zone } from "./ics/zones.ts";
import { parsePhrase } from "./phrase.ts";
import {
  addressOf,
  contextOf,
  type Found,
  isRefused,
  notFound,
  StoredObjects,
  type StoredObjectsParts,
} from "./stored-objects.ts";
import type { WritableCalendar } from "./web/account.ts";

interface WriterParts extends StoredObjectsParts {
  /** BCP 47, for events in words; absent means English. */
  readonly locale?: string;
}

/** A year before 1900 or after 2199 is a typing error. */
const EVER = { from: Date.UTC(1900, 0), to: Date.UTC(2200, 0) };
const DAY_MS = 86_400_000;

type Change<A extends CalendarChange["action"]> = Extract<CalendarChange, { action: A }>;

/**
 * Changes events in CalDAV calendars. A change is told as saved only if its server has confirmed it; after a lost
 * answer it looks at the server, so that nothing is saved twice.
 */
export class Writer {
  readonly #parts: WriterParts;
  readonly #objects: StoredObjects;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#objects = new StoredObjects(parts, "event");
  }

  /**
   * @throws MantelError `not_found`, `invalid`; `conflict` for a calendar that is only read; `revision_stale`;
   * `service_unavailable` if nothing was saved; `outcome_unknown` if the server does not tell
   */
  async change(change: CalendarChange): Promise<CalendarChanged> {
    const calendar = this.#objects.calendar(change.calendarId);
    if (change.action === "create") return this.#create(calendar, change);
    const { uid, origin } = partsOf(change.event);
    const ifMatch = change.action === "read" ? undefined : change.ifMatch;
    return this.#objects.edit(calendar, { uid, ifMatch }, async (found) => {
      if (change.action === "update") return this.#update(calendar, found, change);
      if (change.action === "remove") return this.#remove(calendar, found, change);
      const event = await eventIn(found.bytes, { calendar, uid, origin }, this.#parts.zone);
      if (event) return { event, etag: found.etag ?? null };
      throw missing(change.event);
    });
  }

  async #create(calendar: WritableCalendar, change: Change<"create">): Promise<CalendarChanged> {
    const { locale = "en", zone } = this.#parts;
    const { now } = this.#context;
    const fields =
      "text" in change ? parsePhrase(change.text, { locale, zone, now }) : change.fields;
    if (!fields) {
      throw invalid(
        "/text",
        'the text needs a day or a time and a title, such as "Tomorrow 9 dentist"',
      );
    }
    const { uid, bytes } = newObject(fields, this.#context);
    const event = await eventIn(bytes, { calendar, uid }, this.#parts.zone);
    if (!event) throw new MantelError("invalid", "the event has no occurrence from 1900 to 2199");
    const url = addressOf(calendar, uid);
    const etag = await this.#objects.store(calendar, { url, bytes });
    await this.#objects.show(calendar);
    return { event, etag };
  }

  async #update(
    calendar: WritableCalendar,
    found: Found,
    { event: id, scope, fields, moveTo }: Change<"update">,
  ): Promise<CalendarChanged> {
    const { uid, origin } = partsOf(id);
    const edited = await EditedObject.read(found.bytes, origin, this.#context);
    const target = moveTo === undefined ? calendar : this.#objects.calendar(moveTo);
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
    if (added && addedUrl)
      await this.#objects.store(calendar, { url: addedUrl, bytes: added.bytes });
    const etag = await this.#objects
      .store(calendar, { ...found, bytes: changed, before: found })
      .catch(async (error: unknown) => {
        if (addedUrl && isRefused(error)) await calendar.server.erase(addedUrl, undefined);
        throw error;
      });
    await this.#objects.show(calendar);
    return { event, etag };
  }

  /** Moves an event to another calendar. It is never in none of them. */
  async #move(
    calendar: WritableCalendar,
    found: Found,
    { target, uid, bytes }: { target: WritableCalendar; uid: string; bytes: Buffer },
  ): Promise<CalendarChanged> {
    const url = addressOf(target, uid);
    const etag = await this.#objects.store(target, { url, bytes });
    await this.#objects.erase(calendar, found).catch(async (error: unknown) => {
      if (isRefused(error)) await target.server.erase(url, undefined);
      throw error;
    });
    await Promise.all([this.#objects.show(calendar), this.#objects.show(target)]);
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
    const etag = bytes
      ? await this.#objects.store(calendar, { ...found, bytes, before: found })
      : null;
    if (!bytes) await this.#objects.erase(calendar, found);
    await this.#objects.show(calendar);
    return { event: null, etag };
  }

  get #context(): ChangeContext {
    return contextOf(this.#parts);
  }
}

/** The UID and the start in an id, which the last slash separates. */
function partsOf(id: string): { readonly uid: string; readonly origin: string } {
  const at = id.lastIndexOf("/");
  if (at > 0) return { uid: id.slice(0, at), origin: id.slice(at + 1) };
  throw missing(id);
}

function missing(id: string): MantelError {
  return notFound("event", id);
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

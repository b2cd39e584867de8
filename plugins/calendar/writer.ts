import {
  type CalendarChange,
  type CalendarChanged,
  type CalendarEvent,
  MantelError,
  sentence,
} from "@mantel/plugin-sdk";
import { EditedObject, type Rest } from "./ics/change-event.ts";
import { invalid } from "./ics/event-text.ts";
import { Feed } from "./ics/feed.ts";
import { type ChangeContext, newObject, type NewObject } from "./ics/new-event.ts";
import type { Zone } from "./ics/zones.ts";
import { parsePhrase } from "./phrase.ts";
import {
  addressOf,
  contextOf,
  type Found,
  isStale,
  notFound,
  type StoredObjects,
  type StoredObjectsDependencies,
  stampIn,
  tagOf,
} from "./stored-objects.ts";
import type { TwoStepChange, UnfinishedChanges } from "./unfinished-changes.ts";
import type { WritableCalendar } from "./web/account.ts";
import type { StoredObject } from "./web/dav-objects.ts";

interface WriterDependencies extends Pick<StoredObjectsDependencies, "zone" | "now"> {
  readonly objects: StoredObjects;
  readonly unfinished: UnfinishedChanges;
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
  readonly #parts: WriterDependencies;
  readonly #objects: StoredObjects;

  constructor(parts: WriterDependencies) {
    this.#parts = parts;
    this.#objects = parts.objects;
  }

  /**
   * @throws MantelError `not_found`, `invalid`; `conflict` for a calendar that is only read, and for a refusal of the
   * server; `revision_stale`; `rate_limited`; `service_unavailable` if nothing was saved; `outcome_unknown` if the server
   * does not tell
   */
  async change(change: CalendarChange): Promise<CalendarChanged> {
    const calendar = this.#objects.calendar(change.calendarId);
    try {
      return await this.#changeIn(calendar, change);
    } catch (error) {
      const moved = isGone(error, calendar, change) ? await this.#movedTo(calendar) : undefined;
      if (moved) return this.#changeIn(moved, change);
      throw error;
    }
  }

  /** The calendar at its new address, if its server has moved it. */
  async #movedTo({
    url,
    source,
    lookAgain,
  }: WritableCalendar): Promise<WritableCalendar | undefined> {
    await lookAgain();
    const moved = this.#objects.calendar(source.id);
    return moved.url === url ? undefined : moved;
  }

  async #changeIn(calendar: WritableCalendar, change: CalendarChange): Promise<CalendarChanged> {
    if (change.action === "create") return this.#create(calendar, change);
    const { uid, origin } = partsOf(change.event);
    const ifMatch = change.action === "read" ? undefined : change.ifMatch;
    return this.#objects.edit(calendar, { uid, ifMatch }, async (found) => {
      if (change.action !== "read") {
        await this.#parts.unfinished.settleBefore(change.calendarId, uid);
      }
      if (change.action !== "read" && change.scope !== "this") {
        if (await calendar.objects.isOccurrence?.(found.url)) {
          throw new MantelError("conflict", ONE_BY_ONE);
        }
      }
      if (change.action === "update") return this.#update(calendar, found, change);
      if (change.action === "remove") return this.#remove(calendar, found, change);
      return this.#told(found, { calendar, uid, origin });
    });
  }

  async #create(calendar: WritableCalendar, change: Change<"create">): Promise<CalendarChanged> {
    const { locale = "en", zone } = this.#parts;
    const { now } = this.#context;
    const fields =
      "text" in change ? parsePhrase(change.text, { locale, zone, now }) : change.fields;
    if (!fields) throw invalid("/text", NO_WORDS);
    const { uid, bytes } = newObject(fields, this.#context);
    await this.#requireEvent(bytes, { calendar, uid });
    const stored = await this.#objects.store(calendar, { url: addressOf(calendar, uid), bytes });
    await this.#objects.show(calendar);
    return this.#told(stored, { calendar, uid }, bytes);
  }

  async #update(
    calendar: WritableCalendar,
    found: Found,
    { event: id, scope, fields, moveTo }: Change<"update">,
  ): Promise<CalendarChanged> {
    const { uid, origin } = partsOf(id);
    const edited = await EditedObject.read(found.bytes, origin, this.#context);
    const target = moveTo === undefined ? calendar : this.#objects.calendar(moveTo);
    if (target.url !== calendar.url) {
      const { added, rest } = edited.detach(scope, fields);
      if (!rest) await this.#requireNoCopy(target, uid);
      return this.#inTwoSteps({ calendar, found, uid, rest }, target, added);
    }
    const update = edited.update(scope, fields);
    if ("added" in update) {
      return this.#inTwoSteps({ calendar, found, uid, rest: update.rest }, calendar, update.added);
    }
    const start = fields.start;
    const near = start && ("date" in start ? start.date : start.dateTime);
    const place = { calendar, uid, origin, near };
    await this.#requireEvent(update.changed, place);
    const content = { url: found.url, bytes: update.changed, before: found };
    const stored = await this.#objects.store(calendar, content);
    await this.#objects.show(calendar);
    return this.#told(stored, place, update.changed);
  }

  /** Stores the part of an event that is an object of its own now, and takes it away from the original. */
  async #inTwoSteps(
    { calendar, found, uid, rest }: Divided,
    target: WritableCalendar,
    added: NewObject,
  ): Promise<CalendarChanged> {
    const place = { calendar: target, uid: added.uid };
    await this.#requireEvent(added.bytes, place);
    const url = addressOf(target, added.uid);
    const change: TwoStepChange = {
      added: { calendarId: target.source.id, url, stamp: stampIn(added.bytes) },
      original: {
        calendarId: calendar.source.id,
        uid,
        url: found.url,
        tag: tagOf(found),
        ...(rest && { after: { stamp: stampIn(rest.bytes), mark: rest.mark } }),
      },
    };
    const stored = await this.#parts.unfinished.carryOut(change, async () => {
      const first = await this.#objects
        .store(target, { url, bytes: added.bytes })
        .catch(asCopy(rest === undefined));
      const content = { url: found.url, before: found };
      if (rest) await this.#objects.store(calendar, { ...content, bytes: rest.bytes });
      else await this.#objects.erase(calendar, found);
      return first;
    });
    await this.#objects.show(calendar, ...(target === calendar ? [] : [target]));
    return this.#told(stored, place, added.bytes);
  }

  /** @throws MantelError `conflict` if the event is in the calendar as well, such as after an import */
  async #requireNoCopy(calendar: WritableCalendar, uid: string): Promise<void> {
    const path = calendar.pathOf(uid);
    const url = path === undefined ? addressOf(calendar, uid) : new URL(path, calendar.url).href;
    if (await calendar.objects.load(url)) throw copyExists();
  }

  async #remove(
    calendar: WritableCalendar,
    found: Found,
    { event: id, scope }: Change<"remove">,
  ): Promise<CalendarChanged> {
    const { origin } = partsOf(id);
    const edited = await EditedObject.read(found.bytes, origin, this.#context);
    const bytes = edited.remove(scope);
    const content = { url: found.url, before: found };
    if (!bytes) await this.#objects.erase(calendar, found);
    const left = bytes && (await this.#objects.store(calendar, { ...content, bytes }));
    await this.#objects.show(calendar);
    return { event: null, etag: left ? tagOf(left) : null };
  }

  /** The changed object is read before it is sent, so that a fault of the writing is not saved. */
  async #requireEvent(bytes: Uint8Array, place: EventPlace): Promise<void> {
    if (!(await eventIn(bytes, place, this.#parts.zone))) {
      throw new MantelError("invalid", NO_OCCURRENCE);
    }
  }

  /** The event as its server has it; as it was sent if the server writes it so that it is not found. */
  async #told(
    stored: StoredObject | undefined,
    place: EventPlace,
    sent?: Uint8Array,
  ): Promise<CalendarChanged> {
    const etag = stored ? tagOf(stored) : null;
    for (const bytes of [stored?.bytes, sent]) {
      const event = bytes && (await eventIn(bytes, place, this.#parts.zone).catch(() => undefined));
      if (event) return { event: place.calendar.source.shownEvent(event) ?? null, etag };
    }
    throw missing(`${place.uid}/${place.origin ?? ""}`);
  }

  get #context(): ChangeContext {
    return contextOf(this.#parts);
  }
}

/** An event of which a part becomes an object of its own; the whole object if `rest` is absent. */
interface Divided {
  readonly calendar: WritableCalendar;
  readonly found: Found;
  readonly uid: string;
  readonly rest: Rest | undefined;
}

const NO_WORDS = sentence(
  "no_words",
  'the text needs a day or a time and a title, such as "Tomorrow 9 dentist"',
);
const ONE_BY_ONE = sentence(
  "one_by_one",
  "occurrences of a series in this calendar can only be changed one by one",
);
const NO_OCCURRENCE = sentence(
  "no_occurrence_ever",
  "the event would have no occurrence from 1900 to 2199",
);

/** True if the server has the calendar, or an event that was in it, no longer at its address. */
function isGone(error: unknown, { pathOf }: WritableCalendar, change: CalendarChange): boolean {
  if (!(error instanceof MantelError)) return false;
  if (error.extras.sentence?.code === "calendar_gone_there") return true;
  const isMissing = error.code === "not_found" && change.action !== "create";
  return isMissing && pathOf(partsOf(change.event).uid) !== undefined;
}

function copyExists(): MantelError {
  const told = "the calendar already has this event: delete that copy first";
  return new MantelError("conflict", sentence("copy_exists", told));
}

/** Tells a new object that exists already as a copy, if it moves from another calendar. */
function asCopy(isMove: boolean) {
  return (error: unknown): never => {
    throw isMove && isStale(error) ? copyExists() : error;
  };
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
  const feed = await Feed.read(bytes, zone, calendar.source.addresses);
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

import { createHash } from "node:crypto";
import { MantelError, sentence, Type } from "@mantel/plugin-sdk";
import { Check } from "typebox/value";
import { instantOf, type Moment } from "../ics/moment.ts";
import type { Zone } from "../ics/zones.ts";
import type { WebOptions } from "../options.ts";
import type { DavChanges } from "./dav-changes.ts";
import {
  changedThere,
  type Condition,
  type ObjectStore,
  type StoredObject,
  type Taken,
} from "./dav-objects.ts";
import type { CalendarServer, DavCollection, DavHome } from "./dav.ts";
import { fetchError } from "./fetch-error.ts";
import { GoogleApi } from "./google-api.ts";
import {
  googleBody,
  GoogleEvent,
  googleTime,
  popupMinutes,
  readGoogleEvent,
  removedLine,
} from "./google-event.ts";
import { type CloudEvent, objectBytes, objectText } from "./google-text.ts";
import type { DavObject } from "./object-files.ts";
import { changeOf, type EventFields, isNothing } from "./series-difference.ts";

const Text = Type.Optional(Type.String());
const CalendarList = Type.Object({
  nextPageToken: Text,
  items: Type.Array(
    Type.Object({
      id: Type.String({ minLength: 1 }),
      summary: Text,
      summaryOverride: Text,
      backgroundColor: Text,
      accessRole: Text,
      primary: Type.Optional(Type.Boolean()),
      deleted: Type.Optional(Type.Boolean()),
      defaultReminders: Type.Optional(
        Type.Array(Type.Object({ method: Text, minutes: Type.Optional(Type.Number()) })),
      ),
    }),
  ),
});
const EventPage = Type.Object({
  nextPageToken: Text,
  nextSyncToken: Text,
  items: Type.Array(Type.Unknown()),
});

const MAX_PAGES = 400;
/** The person of the account is the only attendee whose answer is shown. */
const ALONE = { maxAttendees: "1" } as const;
const FIELDS =
  "id,etag,status,iCalUID,updated,summary,description,location,colorId,start,end,recurrence,recurringEventId,originalStartTime,transparency,visibility,hangoutLink,conferenceData/entryPoints,attendees,source,extendedProperties/private,reminders";

/** An event, or a series with its changed and removed occurrences. */
interface Series {
  readonly main: GoogleEvent;
  readonly exceptions: readonly GoogleEvent[];
}

/**
 * The calendars of a Google account (Calendar API v3), as collections of iCalendar objects: one for each event or
 * series. Changes are read by sync token; a series of which anything has changed is read whole.
 */
export class GoogleCalendars implements CalendarServer, ObjectStore {
  readonly #client: GoogleApi;
  readonly #zone: Zone;
  /** Objects of the changes that were read last, until they are taken. */
  readonly #fresh = new Map<string, DavObject>();
  /** Minutes of the usual reminders, by the address of the calendar. */
  readonly #defaults = new Map<string, readonly number[]>();
  #addresses: readonly string[] = [];

  /** @param zone for times that name no zone */
  constructor(account: WebOptions, zone: Zone, signal: AbortSignal) {
    this.#client = new GoogleApi(account, signal);
    this.#zone = zone;
  }

  async discover(): Promise<DavHome> {
    return { url: this.#client.urlOf("users/me/calendarList"), single: false };
  }

  async userAddresses(): Promise<string[]> {
    return [...this.#addresses];
  }

  async pathsSince(): Promise<ReadonlySet<string>> {
    return new Set();
  }

  async collections({ url }: DavHome): Promise<DavCollection[]> {
    const found: DavCollection[] = [];
    const query = { maxResults: "250" };
    for await (const page of this.#pages(url, query)) {
      if (!Check(CalendarList, page)) throw otherForm();
      for (const each of page.items) {
        if (each.deleted) continue;
        const address = this.#client.urlOf(`calendars/${encodeURIComponent(each.id)}/events`);
        this.#defaults.set(address, popupMinutes(each.defaultReminders ?? []));
        if (each.primary && each.id.includes("@")) this.#addresses = [each.id];
        found.push({
          url: address,
          name: each.summaryOverride ?? each.summary,
          color: each.backgroundColor,
          tag: undefined,
          hasTasks: false,
          isReadOnly: !["writer", "owner"].includes(each.accessRole ?? ""),
        });
      }
    }
    return found;
  }

  async changes(url: string, token: string | undefined): Promise<DavChanges> {
    this.#fresh.clear();
    const items: GoogleEvent[] = [];
    let next: string | undefined;
    const query = {
      ...ALONE,
      maxResults: "250",
      fields: `nextPageToken,nextSyncToken,items(${FIELDS})`,
    };
    try {
      for await (const page of this.#pages(url, token ? { ...query, syncToken: token } : query)) {
        if (!Check(EventPage, page)) throw otherForm();
        // one that cannot be read is left out, as a broken one of a file
        items.push(...page.items.filter((each): each is GoogleEvent => Check(GoogleEvent, each)));
        next = page.nextSyncToken;
      }
    } catch (error) {
      if (token !== undefined && error instanceof TokenGone) return this.changes(url, undefined);
      throw error;
    }
    const deletedPaths = new Set<string>();
    const found = token === undefined ? allSeries(items) : await this.#touched(url, items);
    for (const { status, recurringEventId, id } of items) {
      if (status === "cancelled" && recurringEventId === undefined)
        deletedPaths.add(pathOf(url, id));
    }
    const changed = new Map<string, string>();
    for (const series of found) {
      const path = pathOf(url, series.main.id);
      const etag = tagOf(series);
      deletedPaths.delete(path);
      changed.set(path, etag);
      const data = objectText(this.#read(url, series)).bytes.toString("utf8");
      this.#fresh.set(path, { etag, data });
    }
    return { token: next, whole: token === undefined, changed, deletedPaths };
  }

  async objects(url: string, paths: readonly string[]): Promise<Map<string, DavObject>> {
    const objects = new Map<string, DavObject>();
    for (const path of paths) {
      const known = this.#fresh.get(path) ?? (await this.#reload(new URL(path, url).href));
      this.#fresh.delete(path);
      if (known) objects.set(path, known);
    }
    return objects;
  }

  async #reload(url: string): Promise<DavObject | undefined> {
    const series = await this.#series(url);
    const events = series && this.#read(collectionOf(url), series);
    if (!series || !events) return undefined;
    return { etag: tagOf(series), data: objectText(events).bytes.toString("utf8") };
  }

  async load(url: string): Promise<StoredObject | undefined> {
    const series = await this.#series(url);
    return series && { bytes: this.#bytes(url, series), etag: tagOf(series) };
  }

  async store(url: string, bytes: Uint8Array, condition: Condition): Promise<Taken> {
    if (condition === "absent") return this.#create(url, bytes);
    const series = await this.#unchanged(url, condition);
    const collection = collectionOf(url);
    const change = await changeOf(this.#bytes(url, series), bytes, this.#zone);
    if (change.main) {
      const otherRepetitions = (series.main.recurrence ?? []).filter(
        (line) => !/^RRULE/i.test(line),
      );
      await this.#patch(collection, series.main, googleBody(change.main, { otherRepetitions }));
    }
    await this.#changeOccurrences(collection, series, change.occurrences);
    for (const origin of change.removed) {
      const instance = await this.#instance(collection, series, origin);
      if (instance) await this.#delete(collection, instance);
    }
    return { etag: undefined, isLater: false };
  }

  async erase(url: string, condition: Condition): Promise<Taken> {
    const series = await this.#series(url);
    if (!series) return { etag: undefined, isLater: false };
    await this.#delete(collectionOf(url), (await this.#unchanged(url, condition)).main);
    return { etag: undefined, isLater: false };
  }

  async has(now: Uint8Array, wanted: Uint8Array): Promise<boolean> {
    return isNothing(await changeOf(now, wanted, this.#zone));
  }

  /** The id comes from the UID, so that a request whose answer was lost cannot make a second event. */
  async #create(url: string, bytes: Uint8Array): Promise<Taken> {
    const collection = collectionOf(url);
    const { main, occurrences, uid, dates } = await changeOf(undefined, bytes, this.#zone);
    const id = idIn(url);
    const body = withoutNulls(googleBody(main ?? {}, { uid, otherRepetitions: dates }));
    const { status } = await this.#client.send(collection, {
      method: "POST",
      body: { id, ...body },
    });
    if (status === 409) await this.#revive(collection, id, body);
    else if (status >= 400) throw gone();
    if (occurrences.length > 0) {
      const series = await this.#series(url);
      if (series) await this.#changeOccurrences(collection, series, occurrences);
    }
    return { etag: undefined, isLater: false };
  }

  /** An id stays taken after its event was removed, as after a move to another calendar and back. */
  async #revive(collection: string, id: string, body: object): Promise<void> {
    const { data } = await this.#client.send(withQuery(`${collection}/${id}`, ALONE));
    if (!Check(GoogleEvent, data) || data.status !== "cancelled") throw changedThere();
    await this.#patch(collection, data, { status: "confirmed", ...body });
  }

  async #changeOccurrences(
    collection: string,
    series: Series,
    occurrences: readonly { readonly origin: Moment; readonly fields: EventFields }[],
  ): Promise<void> {
    for (const { origin, fields } of occurrences) {
      const instance = await this.#instance(collection, series, origin);
      if (!instance) throw changedThere();
      await this.#patch(collection, instance, googleBody(fields));
    }
  }

  async #patch(collection: string, event: GoogleEvent, body: object): Promise<void> {
    const { status } = await this.#client.send(`${collection}/${encodeURIComponent(event.id)}`, {
      method: "PATCH",
      headers: ifMatch(event),
      body,
    });
    if (status >= 400) throw changedThere();
  }

  async #delete(collection: string, event: GoogleEvent): Promise<void> {
    const url = `${collection}/${encodeURIComponent(event.id)}`;
    await this.#client.send(url, { method: "DELETE", headers: ifMatch(event) });
  }

  /** The occurrence that a series has at a time; `undefined` if it does not exist any more. */
  async #instance(
    collection: string,
    { main, exceptions }: Series,
    origin: Moment,
  ): Promise<GoogleEvent | undefined> {
    const time = googleTime(origin);
    const known = exceptions.find((each) => isAt(each, origin));
    if (known) return known.status === "cancelled" ? undefined : known;
    const query = { ...ALONE, originalStart: time, fields: `items(${FIELDS})` };
    const address = `${collection}/${encodeURIComponent(main.id)}/instances`;
    const { data } = await this.#client.send(withQuery(address, query));
    if (!Check(EventPage, data)) return undefined;
    return data.items.find((each): each is GoogleEvent => Check(GoogleEvent, each));
  }

  /** @throws MantelError `revision_stale` if it is not as the condition has it */
  async #unchanged(url: string, condition: Condition): Promise<Series> {
    const series = await this.#series(url);
    const isOther = typeof condition === "object" && series && tagOf(series) !== condition.etag;
    if (!series || isOther) throw changedThere();
    return series;
  }

  async #series(url: string): Promise<Series | undefined> {
    const collection = collectionOf(url);
    const address = `${collection}/${encodeURIComponent(idIn(url))}`;
    const { status, data } = await this.#client.send(
      withQuery(address, { ...ALONE, fields: FIELDS }),
    );
    if (status >= 400 || !Check(GoogleEvent, data) || data.status === "cancelled") return undefined;
    if (!data.recurrence || data.iCalUID === undefined) return { main: data, exceptions: [] };
    const exceptions: GoogleEvent[] = [];
    const query = { ...ALONE, iCalUID: data.iCalUID, fields: `nextPageToken,items(${FIELDS})` };
    for await (const page of this.#pages(collection, query)) {
      if (!Check(EventPage, page)) throw otherForm();
      for (const each of page.items) {
        if (Check(GoogleEvent, each) && each.recurringEventId === data.id) exceptions.push(each);
      }
    }
    return { main: data, exceptions };
  }

  /** The series of which something has changed. An occurrence whose series is not in the calendar stands alone. */
  async #touched(collection: string, items: readonly GoogleEvent[]): Promise<Series[]> {
    const found = new Map<string, Series>();
    for (const item of items) {
      const id = item.recurringEventId ?? item.id;
      if (found.has(id)) continue;
      if (item.status !== "cancelled" && !item.recurrence && !item.recurringEventId) {
        found.set(id, { main: item, exceptions: [] });
        continue;
      }
      if (item.status === "cancelled" && !item.recurringEventId) continue;
      const series = await this.#series(`${collection}/${encodeURIComponent(id)}`);
      if (series) found.set(id, series);
      else if (item.status !== "cancelled") found.set(item.id, { main: item, exceptions: [] });
    }
    return [...found.values()];
  }

  #bytes(url: string, series: Series): Buffer {
    return objectBytes(this.#read(collectionOf(url), series));
  }

  #read(collection: string, { main, exceptions }: Series): CloudEvent[] {
    const defaults = this.#defaults.get(collection) ?? [];
    const event = readGoogleEvent(main, this.#zone, defaults);
    if (!event) return [];
    const uid = uidOf(main, event);
    const removed = exceptions
      .filter(({ status }) => status === "cancelled")
      .flatMap((each) => removedLine(each, this.#zone) ?? []);
    const changed = exceptions
      .filter(({ status }) => status !== "cancelled")
      .flatMap((each) => readGoogleEvent(each, this.#zone, defaults) ?? []);
    const repetitions = [...(event.repetitions ?? []), ...removed.toSorted()];
    return [
      { ...event, uid, origin: undefined, repetitions },
      ...changed.map((each) => ({ ...each, uid, repetitions: [] })),
    ];
  }

  async *#pages(url: string, query: Readonly<Record<string, string>>): AsyncGenerator {
    let pageToken: string | undefined;
    for (let count = 0; count < MAX_PAGES; count++) {
      const all = pageToken === undefined ? query : { ...query, pageToken };
      const { status, data } = await this.#client.send(withQuery(url, all));
      if (status === 410) throw new TokenGone();
      if (status >= 400) throw fetchError(status, {});
      yield data;
      pageToken = (data as { nextPageToken?: string } | undefined)?.nextPageToken;
      if (pageToken === undefined) return;
    }
    throw otherForm();
  }
}

/** The sync token is too old (410): everything is read again. */
class TokenGone extends MantelError {
  constructor() {
    super("invalid", sentence("sync_token_gone", "the service does not know the last state"));
  }
}

function otherForm(): MantelError {
  return new MantelError("invalid", sentence("other_form", "the service answers in another form"));
}

function gone(): MantelError {
  const told = "the calendar is not at this address of its server any more";
  return new MantelError("conflict", sentence("calendar_gone_there", told));
}

/** Google gives the UID of an event made here another form; only an event with the right id has ours, not a copy. */
function uidOf(main: GoogleEvent, { uid }: CloudEvent): string {
  const isOurs = uid !== main.iCalUID && main.id === idOf(uid);
  return isOurs ? uid : (main.iCalUID ?? main.id);
}

/** The id of an event for a UID: letters from a to v and digits (`events.insert`, "id"). */
function idOf(uid: string): string {
  const plain = uid.toLowerCase().replaceAll("-", "");
  if (/^[a-v0-9]{5,200}$/.test(plain)) return plain;
  return createHash("sha256").update(uid).digest("hex");
}

/** The id in the address of an event; the last part of a new one is its UID with `.ics`. */
function idIn(url: string): string {
  const last = decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
  return last.endsWith(".ics") ? idOf(last.slice(0, -4)) : last;
}

function collectionOf(url: string): string {
  return url.slice(0, url.lastIndexOf("/"));
}

function pathOf(collection: string, id: string): string {
  return `${new URL(collection).pathname}/${encodeURIComponent(id)}`;
}

function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  return `${url}?${new URLSearchParams(query).toString()}`;
}

function ifMatch({ etag }: GoogleEvent): Record<string, string> {
  return etag === undefined ? {} : { "if-match": etag };
}

function isAt({ originalStartTime: start }: GoogleEvent, origin: Moment): boolean {
  if (origin.allDay) return start?.date === googleTime(origin);
  return Date.parse(start?.dateTime ?? "") === instantOf(origin);
}

/** Changes with every change of the event or of an occurrence. */
function tagOf({ main, exceptions }: Series): string {
  const all = [main, ...exceptions].map(({ id, etag = "", status = "" }) =>
    JSON.stringify([id, etag, status]),
  );
  return createHash("sha256").update(all.toSorted().join()).digest("base64url");
}

/** All events of a calendar by their series. */
function allSeries(items: readonly GoogleEvent[]): Series[] {
  const mains = new Map<string, { main: GoogleEvent; exceptions: GoogleEvent[] }>();
  for (const item of items) {
    if (item.recurringEventId === undefined && item.status !== "cancelled") {
      mains.set(item.id, { main: item, exceptions: [] });
    }
  }
  for (const item of items) {
    if (item.recurringEventId === undefined) continue;
    const series = mains.get(item.recurringEventId);
    if (series) series.exceptions.push(item);
    else if (item.status !== "cancelled") mains.set(item.id, { main: item, exceptions: [] });
  }
  return [...mains.values()];
}

/** A new event has no fields to take away. */
function withoutNulls(value: object): object {
  const kept = Object.entries(value).flatMap(([key, each]: [string, unknown]) => {
    if (each === null) return [];
    const isPlain = typeof each === "object" && !Array.isArray(each);
    return [[key, isPlain ? withoutNulls(each) : each]];
  });
  return Object.fromEntries(kept) as object;
}

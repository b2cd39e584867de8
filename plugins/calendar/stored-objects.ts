import { createHash, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { MantelError, SerialQueue, sentence } from "@mantel/plugin-sdk";
import type { ChangeContext } from "./ics/new-event.ts";
import type { Zone } from "./ics/zones.ts";
import type { WritableCalendar } from "./web/account.ts";
import {
  changedThere,
  type Condition,
  NoAnswer,
  type ObjectStore,
  type StoredObject,
  type Taken,
} from "./web/dav-objects.ts";

export interface StoredObjectsDependencies {
  /** The calendar with this id; `undefined` for one that is only read. */
  readonly find: (id: string) => WritableCalendar | undefined;
  readonly has: (id: string) => boolean;
  /** Publishes what was read. */
  readonly publish: () => Promise<void>;
  readonly zone: Zone;
  readonly now?: () => number;
  /** Pauses before looking again at a server that did not answer. */
  readonly pausesMs?: readonly number[];
}

/** Attempts if others change the same object at the same time. */
const MAX_ATTEMPTS = 5;
const PAUSES_MS = [250, 500, 1_000, 2_000, 4_000];
/** Looks for an object that its server has told as stored, and does not have. */
const LOOKS = 2;

/** An object of a calendar, at its server. */
export interface Found extends StoredObject {
  readonly url: string;
}

/** An object to store; `before` is the one that it replaces. */
interface NewContent {
  readonly url: string;
  readonly bytes: Uint8Array;
  readonly before?: Found | undefined;
}

/**
 * Objects of CalDAV calendars, each of one event or task. A change is told as saved only if its server has it. After a
 * lost answer it looks at the server, so that nothing is saved twice.
 */
export class StoredObjects {
  readonly #parts: StoredObjectsDependencies;
  readonly #what: "event" | "task";
  /** Changes of one object follow each other, by calendar and UID. */
  readonly #turns = new Map<string, { readonly queue: SerialQueue; waiting: number }>();

  constructor(parts: StoredObjectsDependencies, what: "event" | "task") {
    this.#parts = parts;
    this.#what = what;
  }

  /**
   * Works on an object as its server has it now, again if others change it meanwhile and `ifMatch` is absent.
   * @throws MantelError `not_found`, `revision_stale`, and those of `work`
   */
  edit<T>(
    calendar: WritableCalendar,
    { uid, ifMatch }: { readonly uid: string; readonly ifMatch: string | undefined },
    work: (found: Found) => Promise<T>,
  ): Promise<T> {
    return this.inTurn(calendar, uid, async () => {
      for (let attempt = 1; ; attempt++) {
        const found = await this.#find(calendar, uid);
        requireMatch(ifMatch, found);
        try {
          return await work(found);
        } catch (error) {
          if (!isStale(error) || ifMatch !== undefined || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    });
  }

  /** @throws MantelError `not_found`; `conflict` for a calendar that is only read */
  calendar(id: string): WritableCalendar {
    const calendar = this.#parts.find(id);
    if (calendar && !calendar.source.isPrivate) return calendar;
    if (!this.#parts.has(id)) throw noCalendar(id);
    throw new MantelError("conflict", calendar ? hidden(id) : onlyRead(id));
  }

  /**
   * The object with a UID as its server has it. Reads the list of objects again if the known one does not exist,
   * because some servers give objects other names.
   */
  async #find(calendar: WritableCalendar, uid: string): Promise<Found> {
    const known = await this.#load(calendar, uid);
    if (known) return known;
    if (calendar.pathOf(uid) !== undefined) {
      await calendar.readChanges().catch(() => undefined); // the calendar itself may have moved
      const found = await this.#load(calendar, uid);
      if (found) return found;
    }
    throw notFound(this.#what, uid);
  }

  async #load(calendar: WritableCalendar, uid: string): Promise<Found | undefined> {
    const path = calendar.pathOf(uid);
    const url = path === undefined ? addressOf(calendar, uid) : new URL(path, calendar.url).href;
    const stored = await this.#patiently(() => calendar.objects.load(url));
    return stored && { ...stored, url };
  }

  /** Asks again for a while if a server does not answer, such as during its restart. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (const pause of this.#pauses) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        await delay(pause);
      }
    }
    return ask();
  }

  /**
   * Stores an object in place of `before`, or a new one. Returns it as its server has it; `undefined` if it is stored, and
   * cannot be read now.
   * @throws MantelError as `ObjectStore.store`; `conflict` if the server does not have it; `outcome_unknown`
   */
  store(
    { objects }: WritableCalendar,
    { url, bytes, before }: NewContent,
  ): Promise<StoredObject | undefined> {
    const put = (condition: Condition) => objects.store(url, bytes, condition);
    const wanted = stampIn(bytes);
    return this.#certainly(
      {
        act: () => (before ? ifUnchanged(objects, before, put) : put("absent")),
        look: () => objects.load(url),
      },
      {
        isDone: async (now) => {
          if (now === undefined) return false;
          if (objects.has) return objects.has(now.bytes, bytes);
          return !before || stampIn(now.bytes) === wanted;
        },
        isUntouched: (now) => isSame(now, before),
      },
    );
  }

  /** Removes an object from its server. @throws as `store` */
  async erase({ objects }: WritableCalendar, found: Found): Promise<void> {
    await this.#certainly(
      {
        act: () => ifUnchanged(objects, found, (condition) => objects.erase(found.url, condition)),
        look: () => objects.load(found.url),
      },
      { isDone: (now) => now === undefined, isUntouched: (now) => isSame(now, found) },
    );
  }

  /**
   * Does something at a server once, and looks if the server has done it. If the answer is lost and nothing is done, it
   * does it again. Returns the object after it; `undefined` if that cannot be read.
   */
  async #certainly(deed: Deed, state: State): Promise<StoredObject | undefined> {
    try {
      return await this.#checked(await deed.act(), deed, state);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
    for (const pause of this.#pauses) {
      await delay(pause);
      try {
        const now = await deed.look();
        if (await state.isDone(now)) return now;
        if (!state.isUntouched(now)) break;
        return await this.#checked(await deed.act(), deed, state);
      } catch (error) {
        // a race may be with our own first request
        if (!(error instanceof NoAnswer) && !isStale(error)) throw error;
      }
    }
    throw outcomeUnknown();
  }

  /** The object after a change that the server has told as done, which some servers do wrongly. */
  async #checked(
    { etag, isLater }: Taken,
    { look }: Deed,
    { isDone, isUntouched }: State,
  ): Promise<StoredObject | undefined> {
    const pauses = isLater ? this.#pauses : this.#pauses.slice(0, LOOKS);
    let isUntouchedNow = false;
    for (const pause of [0, ...pauses]) {
      await delay(pause);
      try {
        const now = await look();
        isUntouchedNow = isUntouched(now);
        // some servers write what they store in another way
        if (isLater ? await isDone(now) : !isUntouchedNow) return now;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        if (etag !== undefined && !isLater) return undefined;
      }
    }
    if (isLater) throw new MantelError("outcome_unknown", STORED_LATER);
    throw isUntouchedNow ? new MantelError("conflict", NOT_STORED) : outcomeUnknown();
  }

  /** Shows what is saved. It stays saved if it cannot be shown now; the next poll shows it. */
  async show(...calendars: readonly WritableCalendar[]): Promise<void> {
    await Promise.allSettled(calendars.map((each) => each.readChanges()));
    await this.#parts.publish();
  }

  /** Runs `work` after all earlier work on the same object has ended. */
  async inTurn<T>(
    { url }: Pick<WritableCalendar, "url">,
    uid: string,
    work: () => Promise<T>,
  ): Promise<T> {
    const key = `${url} ${uid}`;
    const turn = this.#turns.get(key) ?? { queue: new SerialQueue(), waiting: 0 };
    this.#turns.set(key, turn);
    turn.waiting++;
    try {
      return await turn.queue.take(work);
    } finally {
      if (--turn.waiting === 0) this.#turns.delete(key);
    }
  }

  get #pauses(): readonly number[] {
    return this.#parts.pausesMs ?? PAUSES_MS;
  }
}

/** A change at a server, and how to look at its result. */
interface Deed {
  readonly act: () => Promise<Taken>;
  readonly look: () => Promise<StoredObject | undefined>;
}

interface State {
  readonly isDone: (now: StoredObject | undefined) => boolean | Promise<boolean>;
  readonly isUntouched: (now: StoredObject | undefined) => boolean;
}

function outcomeUnknown(): MantelError {
  const told = sentence(
    "outcome_unknown",
    "the server does not answer, so the change may or may not be saved",
  );
  return new MantelError("outcome_unknown", told);
}

const NOT_STORED = sentence(
  "not_stored_there",
  "the server told the change as saved, but does not have it",
);
const STORED_LATER = sentence(
  "stored_later_there",
  "the server has accepted the change and not saved it yet: look again later",
);

/**
 * Acts only if the object is still as it was read. Its bytes decide for servers that have no entity tags, weak ones, or
 * others in every answer.
 * @throws MantelError `revision_stale`
 */
async function ifUnchanged(
  objects: ObjectStore,
  before: Found,
  act: (condition: Condition) => Promise<Taken>,
): Promise<Taken> {
  const { etag } = before;
  if (etag !== undefined && !etag.startsWith("W/")) {
    try {
      return await act({ etag });
    } catch (error) {
      if (!isStale(error)) throw error;
    }
  }
  const now = await objects.load(before.url);
  if (!isSame(now, before)) throw changedThere();
  return act("present");
}

/** True if both have the same content, or do not exist. */
function isSame(a: StoredObject | undefined, b: StoredObject | undefined): boolean {
  return a && b ? tagOf(a) === tagOf(b) : a === b;
}

/** The entity tag of an object for clients: of its content, because not all servers have tags that can be relied on. */
export function tagOf({ bytes }: Pick<StoredObject, "bytes">): string {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/^DTSTAMP[:;].*$/gim, ""); // some servers write the time of the answer there
  return `"${createHash("sha256").update(text, "latin1").digest("base64url").slice(0, 22)}"`;
}

/** The zone, time and id source that a change needs besides its fields. */
export function contextOf({
  zone,
  now = Date.now,
}: Pick<StoredObjectsDependencies, "zone" | "now">): ChangeContext {
  return { zone, now: now(), newUid: randomUUID };
}

export function notFound(what: "event" | "task", id: string): MantelError {
  const place = { id: id.slice(0, 100) };
  const told =
    what === "event"
      ? sentence("no_event", "no event has the id {id}", place)
      : sentence("no_task", "no task has the id {id}", place);
  return new MantelError("not_found", told);
}

export function noCalendar(id: string): MantelError {
  const told = sentence("no_calendar", "no calendar has the id {id}", { id: id.slice(0, 100) });
  return new MantelError("not_found", told);
}

function hidden(id: string) {
  return sentence(
    "events_hidden",
    "the calendar {id} cannot be changed here: its events are hidden",
    { id },
  );
}

function onlyRead(id: string) {
  return sentence(
    "only_read",
    "the calendar {id} cannot be changed here: only calendars of accounts can be changed, if their owner permits it",
    { id },
  );
}

/** The address of a new object. */
export function addressOf({ url }: Pick<WritableCalendar, "url">, uid: string): string {
  return new URL(`${encodeURIComponent(uid)}.ics`, url.endsWith("/") ? url : `${url}/`).href;
}

function requireMatch(wanted: string | undefined, found: Found): void {
  const tags = wanted?.split(",").map((each) => each.trim()) ?? ["*"];
  if (!tags.includes("*") && !tags.includes(tagOf(found))) throw changedThere();
}

export function isStale(error: unknown): boolean {
  return error instanceof MantelError && error.code === "revision_stale";
}

/** The properties that every change sets. */
export function stampIn(bytes: Uint8Array): string {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/\r?\n[ \t]/g, "");
  return (text.match(/^(?:UID|SEQUENCE|LAST-MODIFIED|CREATED):.*$/gim) ?? [])
    .map((each) => each.trim())
    .toSorted()
    .join();
}

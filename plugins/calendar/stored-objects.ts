import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { MantelError, SerialQueue } from "@mantel/plugin-sdk";
import type { ChangeContext } from "./ics/new-event.ts";
import type { Zone } from "./ics/zones.ts";
import type { WritableCalendar } from "./web/account.ts";
import type { StoredObject } from "./web/dav.ts";

export interface StoredObjectsParts {
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

/** An object of a calendar, at its server. */
export interface Found extends StoredObject {
  readonly url: string;
}

/**
 * Objects of CalDAV calendars, each of one event or task. A change is told as saved only if its server has confirmed
 * it; after a lost answer it looks at the server, so that nothing is saved twice.
 */
export class StoredObjects {
  readonly #parts: StoredObjectsParts;
  readonly #what: "event" | "task";
  /** Changes of one object follow each other, by calendar and UID. */
  readonly #turns = new Map<string, { readonly queue: SerialQueue; waiting: number }>();

  constructor(parts: StoredObjectsParts, what: "event" | "task") {
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
    return this.#inTurn(`${calendar.url} ${uid}`, async () => {
      for (let attempt = 1; ; attempt++) {
        const found = await this.#load(calendar, uid);
        requireMatch(ifMatch, found.etag);
        try {
          return await work(found);
        } catch (error) {
          const isStale = error instanceof MantelError && error.code === "revision_stale";
          if (!isStale || ifMatch !== undefined || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    });
  }

  /** @throws MantelError `not_found`; `conflict` for a calendar that is only read */
  calendar(id: string): WritableCalendar {
    const calendar = this.#parts.find(id);
    if (calendar && !calendar.source.isPrivate) return calendar;
    if (!this.#parts.has(id)) throw new MantelError("not_found", `no calendar has the id ${id}`);
    const why = calendar ? "its events are hidden" : "only CalDAV calendars can be changed";
    throw new MantelError("conflict", `the calendar ${id} cannot be changed here: ${why}`);
  }

  async #load(calendar: WritableCalendar, uid: string): Promise<Found> {
    const path = await calendar.pathOf(uid);
    const url = path === undefined ? addressOf(calendar, uid) : new URL(path, calendar.url).href;
    const stored = await this.#patiently(() => calendar.server.load(url));
    if (stored) return { ...stored, url };
    throw notFound(this.#what, uid);
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

  /** Stores an object in place of `before`, or a new one. Returns the new entity tag; null if the server has none. */
  async store(
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

  /** Removes an object from its server. */
  async erase({ server }: WritableCalendar, { url, etag }: Found): Promise<void> {
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

  /** Shows what is saved. It stays saved if it cannot be shown now; the next poll shows it. */
  async show(calendar: WritableCalendar): Promise<void> {
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

/** What a change needs besides its fields. */
export function contextOf({ zone, now = Date.now }: StoredObjectsParts): ChangeContext {
  return { zone, now: now(), newUid: randomUUID };
}

export function notFound(what: string, id: string): MantelError {
  return new MantelError("not_found", `no ${what} has the id ${id.slice(0, 100)}`);
}

/** The address of a new object. */
export function addressOf({ url }: WritableCalendar, uid: string): string {
  return new URL(`${encodeURIComponent(uid)}.ics`, url.endsWith("/") ? url : `${url}/`).href;
}

function requireMatch(wanted: string | undefined, etag: string | undefined): void {
  if (wanted === undefined || wanted.trim() === "*" || wanted.trim() === etag) return;
  throw new MantelError("revision_stale", "it has changed: read it again");
}

/** True if it is not known what the server has done. */
function isLost(error: unknown): boolean {
  if (!(error instanceof MantelError)) return false;
  return error.code === "deadline_passed" || error.code === "service_unavailable";
}

/** True if it is certain that the server has not done it. */
export function isRefused(error: unknown): boolean {
  return error instanceof MantelError && error.code !== "outcome_unknown";
}

/** The properties that every change sets. */
function stampIn(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("latin1");
  return (text.match(/^(?:SEQUENCE|LAST-MODIFIED):.*$/gim) ?? [])
    .map((each) => each.trim())
    .toSorted()
    .join();
}

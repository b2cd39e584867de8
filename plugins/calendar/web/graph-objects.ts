import { sentence } from "@mantel/plugin-sdk";
import { NOT_ORDINARY } from "../ics/change-event.ts";
import { CalendarObject } from "../ics/edit-lines.ts";
import { invalid } from "../ics/event-text.ts";
import { instantOf, type Moment } from "../ics/moment.ts";
import { unsafe } from "../ics/move-series.ts";
import { withZones } from "../ics/new-event.ts";
import type { Zone } from "../ics/zones.ts";
import type { WebOptions } from "../options.ts";
import { authorizedRequest } from "./authorized-request.ts";
import {
  asNoAnswer,
  changedThere,
  type Condition,
  NoAnswer,
  type ObjectStore,
  REQUEST_MS,
  requireTaken,
  type StoredObject,
  type Taken,
} from "./dav-objects.ts";
import { GRAPH_FIELDS, type GraphEvent, isGraphEvent, momentsOf, objectOf } from "./graph-event.ts";
import { recurrenceOf, windowsZone } from "./graph-rule.ts";
import type { GuardedAnswer } from "./guarded-request.ts";
import { changeOf, type EventFields, isNothing } from "./series-difference.ts";

const PREFER = 'outlook.timezone="UTC", outlook.body-content-type="text", IdType="ImmutableId"';
const NO_URL = sentence("no_url_at_microsoft", "events of Microsoft have no web address");
const NO_CANCELLED = sentence(
  "no_cancelled_status",
  "a status cannot cancel an event of this calendar: delete it",
);
const ONE_OF_SERIES = sentence(
  "one_of_series",
  "this is one occurrence of a series: only a new event can get a rule",
);

interface Asked {
  readonly body?: object;
  readonly etag?: string | undefined;
}

/**
 * Single events of a Microsoft account (Graph 1.0). What is stored is compared with the event as it is there, and only
 * fields that differ are sent; everything else of the event stays. Of a series each occurrence is an event.
 */
export class GraphObjects implements ObjectStore {
  readonly #account: WebOptions;
  readonly #zone: Zone;
  readonly #signal: AbortSignal;
  /** The addresses that Microsoft has given to new events, by those that were asked for. */
  readonly #given = new Map<string, string>();

  /** @param zone for times that name no zone */
  constructor(account: WebOptions, zone: Zone, signal: AbortSignal) {
    this.#account = account;
    this.#zone = zone;
    this.#signal = signal;
  }

  async load(url: string): Promise<StoredObject | undefined> {
    const event = await this.#event(url);
    return event && { bytes: this.#bytesOf(event), etag: event.changeKey };
  }

  async store(url: string, bytes: Uint8Array, condition: Condition): Promise<Taken> {
    if (condition === "absent") return this.#create(url, bytes);
    const event = await this.#event(url);
    if (!event || isOther(event, condition)) throw changedThere();
    const { main = {} } = await changeOf(this.#bytesOf(event), bytes, this.#zone);
    if (main.rule !== undefined) throw invalid("/rrule", ONE_OF_SERIES);
    const body = bodyOf(main, this.#zone);
    await this.#send("PATCH", this.#addressOf(url), { body, etag: event.changeKey });
    return { etag: undefined, isLater: false };
  }

  async erase(url: string, condition: Condition): Promise<Taken> {
    const event = await this.#event(url);
    if (event && isOther(event, condition)) throw changedThere();
    if (event) await this.#send("DELETE", this.#addressOf(url), { etag: event.changeKey });
    return { etag: undefined, isLater: false };
  }

  async isOccurrence(url: string): Promise<boolean> {
    const event = await this.#event(url);
    return event?.type === "occurrence" || event?.type === "exception";
  }

  async has(now: Uint8Array, wanted: Uint8Array): Promise<boolean> {
    const { main = {}, ...change } = await changeOf(now, wanted, this.#zone);
    const { rule: _, ...others } = main; // its occurrences are events of their own
    return isNothing({ ...change, main: others });
  }

  /**
   * Creates an event. A second request with the same `transactionId`, after a lost answer, creates no other one.
   */
  async #create(url: string, bytes: Uint8Array): Promise<Taken> {
    const change = await changeOf(undefined, bytes, this.#zone);
    const { uid, start, main = {}, occurrences, dates } = change;
    if (occurrences.length + dates.length > 0) throw unsafe(NOT_ORDINARY);
    const { rule, ...fields } = main;
    const body = {
      ...bodyOf(fields, this.#zone),
      ...(rule ? { recurrence: recurrenceOf(rule, start, this.#zone) } : {}),
      transactionId: uid,
    };
    const collection = url.slice(0, url.lastIndexOf("/"));
    const answer = await this.#send("POST", `${collection}/events`, { body });
    const event = eventIn(answer);
    if (event) this.#given.set(url, `${collection}/events/${encodeURIComponent(event.id)}`);
    return { etag: undefined, isLater: false };
  }

  async #event(url: string): Promise<GraphEvent | undefined> {
    const address = this.#addressOf(url);
    if (address.endsWith(".ics")) return undefined; // it was not created by this process
    const answer = await this.#send("GET", `${address}?$select=${GRAPH_FIELDS}`);
    return answer.status === 404 ? undefined : eventIn(answer);
  }

  #addressOf(url: string): string {
    return this.#given.get(url) ?? url;
  }

  /** With its zones, because it may move to a calendar elsewhere. */
  #bytesOf(event: GraphEvent): Buffer {
    const text = Buffer.from(objectOf(event, this.#account.username));
    return withZones(CalendarObject.read(text), momentsOf(event)).bytes;
  }

  async #send(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    url: string,
    { body, etag }: Asked = {},
  ): Promise<GuardedAnswer> {
    const { allowPrivate, url: api } = this.#account;
    const { origin } = new URL(api);
    const request = authorizedRequest(this.#account, {
      url,
      method,
      headers: {
        accept: "application/json",
        prefer: PREFER,
        ...(body ? { "content-type": "application/json" } : {}),
        ...(etag === undefined ? {} : { "if-match": `W/"${etag}"` }),
      },
      body: body && JSON.stringify(body),
      trusts: (address) => address.origin === origin,
      allowPrivate,
      follow: false,
      limits: { idleMs: REQUEST_MS, totalMs: REQUEST_MS },
      readsRefusal: true,
      signal: this.#signal,
    });
    const answer = await request.catch(asNoAnswer);
    if (answer.status === 404 && (method === "GET" || method === "DELETE")) return answer;
    requireTaken(answer);
    return answer;
  }
}

/** @throws NoAnswer for half an answer */
function eventIn({ body }: GuardedAnswer): GraphEvent | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return typeof data === "object" && data !== null && isGraphEvent(data) ? data : undefined;
  } catch (error) {
    const half = sentence("answer_cut", "the server's answer ends in the middle");
    throw new NoAnswer(half, error);
  }
}

function isOther({ changeKey }: GraphEvent, condition: Condition): boolean {
  return typeof condition === "object" && condition.etag !== changeKey;
}

/** The fields as Microsoft takes them. @throws MantelError `invalid` for one that its events do not have */
function bodyOf(difference: EventFields, home: Zone): object {
  const { title, location, description, url, times, ...free } = difference;
  if (url !== undefined && url !== null) throw invalid("/url", NO_URL);
  if (free.status === "cancelled") throw invalid("/status", NO_CANCELLED);
  const showAs = showAsOf(free);
  return {
    ...(title === undefined ? {} : { subject: title }),
    ...(location === undefined ? {} : { location: { displayName: location ?? "" } }),
    ...(description === undefined
      ? {}
      : { body: { contentType: "text", content: description ?? "" } }),
    ...(showAs === undefined ? {} : { showAs }),
    ...(times && {
      isAllDay: times.start.allDay,
      start: timeOf(times.start, home),
      end: timeOf(times.end, home),
    }),
  };
}

/** One field says whether its person is free, busy, or perhaps busy. */
function showAsOf({ busy, status }: EventFields): string | undefined {
  if (busy === false) return "free";
  if (status === "tentative") return "tentative";
  return busy === undefined && status === undefined ? undefined : "busy";
}

/** `dateTimeTimeZone`: the time on the clock of a zone. A day begins at midnight of the home. */
function timeOf(moment: Moment, home: Zone): object {
  const timeZone = windowsZone(moment.allDay ? home : moment.zone);
  const wall = timeZone === "UTC" ? instantOf(moment) : moment.wall;
  return { dateTime: new Date(wall).toISOString().slice(0, 19), timeZone };
}

// The Calendar API v3 of Google and its sign-in, as the public reference describes them: calendarList.list, events.list
// with sync tokens and pages, get, insert, patch, delete and instances, entity tags, and the errors of "Handle API
// errors". A query parameter, header or field that the reference does not name is refused.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { onTestEnd } from "../helpers/on-test-end.ts";
import { CLIENT_ID, OAuthProvider } from "./oauth-provider.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An event as JSON, with the number of its last change. */
interface Stored {
  readonly event: Fields;
  readonly version: number;
}

interface Calendar {
  readonly entry: Fields;
  readonly events: Map<string, Stored>;
}

export interface GoogleRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
  readonly body: Fields | undefined;
}

interface Reply {
  readonly status: number;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const GOOGLE_SCOPE =
  "https://www.googleapis.com/auth/calendar.events https://www.googleapis.com/auth/calendar.calendarlist.readonly";
const CLIENT = { clientId: CLIENT_ID, clientSecret: "GOCSPX-x" };

/** Fields of an event that a client may write (resource "Events"). */
const WRITABLE = new Set([
  "id",
  "summary",
  "description",
  "location",
  "start",
  "end",
  "recurrence",
  "transparency",
  "status",
  "source",
  "extendedProperties",
  "colorId",
  "visibility",
  "reminders",
]);
const LIST = ["maxResults", "fields", "maxAttendees", "pageToken", "syncToken", "iCalUID"];

/** A Google account with one user and one registered program. */
export class FakeGoogle {
  readonly client = CLIENT;
  readonly oauth = new OAuthProvider({ scope: GOOGLE_SCOPE, clientSecret: CLIENT.clientSecret });
  readonly requests: GoogleRequest[] = [];
  /** Maximum items of a page, whatever a client asks for. */
  pageSize = 100;
  /** Answers in place of the service, or gives `undefined`; `"cut"` breaks the connection. */
  intervene: (request: GoogleRequest) => Reply | "cut" | undefined = () => undefined;
  /** Called after a request was carried out; true loses the answer. */
  loses: (request: GoogleRequest) => boolean = () => false;
  /** Sync tokens of earlier versions are too old. */
  forgottenBefore = 0;
  readonly #calendars = new Map<string, Calendar>();
  #version = 1;
  #url = "";

  get url(): string {
    return this.#url;
  }

  /** The number of the last change. */
  get version(): number {
    return this.#version;
  }

  addCalendar(id: string, fields: Fields = {}): void {
    const entry = { kind: "calendar#calendarListEntry", id, accessRole: "owner", ...fields };
    this.#calendars.set(id, { entry, events: new Map() });
  }

  removeCalendar(id: string): void {
    this.#calendars.delete(id);
  }

  /** Stores an event as the web page of the service does, with any fields. */
  put(calendar: string, event: Fields & { readonly id: string }): void {
    this.#store(this.#calendar(calendar), {
      status: "confirmed",
      iCalUID: `${event.id}@google.com`,
      ...event,
    });
  }

  /** Removes an event, or one occurrence, as the web page does. */
  remove(calendar: string, id: string): void {
    const { events } = this.#calendar(calendar);
    const { event = {} } = events.get(id) ?? {};
    const { recurringEventId, originalStartTime, iCalUID } = event;
    const kept = recurringEventId ? { recurringEventId, originalStartTime, iCalUID } : {};
    this.#store(this.#calendar(calendar), { id, status: "cancelled", ...kept });
  }

  /** The events that are not removed. */
  events(calendar: string): Fields[] {
    return [...this.#calendar(calendar).events.values()].map(({ event }) => event);
  }

  event(calendar: string, id: string): Fields | undefined {
    return this.#calendar(calendar).events.get(id)?.event;
  }

  async listen(t: TestContext): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestEnd(t, async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    });
    this.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.#url);
    const raw = await text(request);
    const own = await this.oauth.reply(request, raw);
    if (own) return void response.writeHead(own.status, own.headers).end(own.body);
    const asked: GoogleRequest = {
      method: request.method ?? "",
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: request.headers,
      body: raw === "" ? undefined : (JSON.parse(raw) as Fields),
    };
    this.requests.push(asked);
    const early = this.intervene(asked);
    if (early === "cut") return void request.socket.destroy();
    const reply = early ?? this.#reply(asked);
    if (this.loses(asked)) return void request.socket.destroy();
    send(response, reply);
  }

  #reply(request: GoogleRequest): Reply {
    const { method, path, headers, body } = request;
    if (!this.oauth.isAllowed(headers.authorization)) return failure(401, "authError");
    if (body && !/^application\/json(;|$)/.test(headers["content-type"] ?? "")) {
      return failure(400, "parseError");
    }
    if (path === "/calendar/v3/users/me/calendarList" && method === "GET")
      return this.#list(request);
    const match = /^\/calendar\/v3\/calendars\/([^/]+)\/events(?:\/([^/]+)(\/instances)?)?$/.exec(
      path,
    );
    const [, calendarId = "", eventId, instances] =
      match?.map((each) => each && decodeURIComponent(each)) ?? [];
    const calendar = this.#calendars.get(calendarId ?? "");
    if (!match || !calendar) return failure(404, "notFound");
    const { accessRole } = calendar.entry;
    if (method !== "GET" && accessRole !== "owner" && accessRole !== "writer") {
      return failure(403, "requiredAccessLevel");
    }
    if (eventId === undefined) {
      if (method === "GET") return this.#events(calendar, request);
      if (method === "POST") return this.#insert(calendar, request);
      return failure(405, "httpMethodNotAllowed");
    }
    if (instances) return this.#instances(calendar, eventId, request);
    if (method === "GET") return this.#get(calendar, eventId, request);
    if (method === "PATCH") return this.#patch(calendar, eventId, request);
    if (method === "DELETE") return this.#delete(calendar, eventId, request);
    return failure(405, "httpMethodNotAllowed");
  }

  #list({ query }: GoogleRequest): Reply {
    const unknown = unknownIn(query, ["maxResults", "pageToken"]);
    if (unknown) return unknown;
    const all = [...this.#calendars.values()].map(({ entry }) => entry);
    const from = Number(query["pageToken"] ?? 0);
    const items = all.slice(from, from + this.pageSize);
    const isLast = from + this.pageSize >= all.length;
    return {
      status: 200,
      body: { items, ...(isLast ? {} : { nextPageToken: String(from + this.pageSize) }) },
    };
  }

  #events({ events }: Calendar, { query }: GoogleRequest): Reply {
    const unknown = unknownIn(query, LIST);
    if (unknown) return unknown;
    const { syncToken, iCalUID, pageToken, maxResults } = query;
    if (syncToken !== undefined && iCalUID !== undefined) return failure(400, "invalid");
    if (maxResults !== undefined && !(Number(maxResults) >= 1 && Number(maxResults) <= 2_500)) {
      return failure(400, "invalidParameter");
    }
    const since = syncToken === undefined ? undefined : Number(/^v(\d+)=$/.exec(syncToken)?.[1]);
    if (Number.isNaN(since)) return failure(400, "invalid");
    if (since !== undefined && since < this.forgottenBefore)
      return failure(410, "fullSyncRequired");
    const found = [...events.values()]
      .filter(({ event }) => iCalUID === undefined || event["iCalUID"] === iCalUID)
      .filter(({ event, version }) =>
        since === undefined
          ? event["status"] !== "cancelled" || this.#isOfSeries(events, event)
          : version > since,
      );
    const from = Number(pageToken ?? 0);
    const to = from + Math.min(this.pageSize, Number(maxResults ?? 250));
    const items = found.slice(from, to).map(({ event }) => event);
    const next =
      to < found.length ? { nextPageToken: String(to) } : { nextSyncToken: `v${this.#version}=` };
    return { status: 200, body: { kind: "calendar#events", items, ...next } };
  }

  /** Removed occurrences of a series that still exists are listed also without removed events. */
  #isOfSeries(events: Calendar["events"], { recurringEventId }: Fields): boolean {
    const series = events.get(String(recurringEventId));
    return series !== undefined && series.event["status"] !== "cancelled";
  }

  #get(calendar: Calendar, id: string, { query }: GoogleRequest): Reply {
    const unknown = unknownIn(query, ["fields", "maxAttendees"]);
    if (unknown) return unknown;
    const event = calendar.events.get(id)?.event ?? this.#occurrence(calendar, id);
    return event ? { status: 200, body: event } : failure(404, "notFound");
  }

  #instances(calendar: Calendar, id: string, { method, query }: GoogleRequest): Reply {
    const unknown = unknownIn(query, ["fields", "maxAttendees", "originalStart"]);
    if (unknown) return unknown;
    if (method !== "GET") return failure(405, "httpMethodNotAllowed");
    const start = query["originalStart"] ?? "";
    const key = start.includes("T")
      ? `${new Date(start).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`
      : start.replaceAll("-", "");
    const own =
      calendar.events.get(`${id}_${key}`)?.event ?? this.#occurrence(calendar, `${id}_${key}`);
    const items = own && own["status"] !== "cancelled" ? [own] : [];
    return { status: 200, body: { kind: "calendar#events", items } };
  }

  #insert(calendar: Calendar, { query, body = {} }: GoogleRequest): Reply {
    const fault = unknownIn(query, []) ?? faultIn(body, true);
    if (fault) return fault;
    const { id = `gen${this.#version}`, ...fields } = body;
    if (typeof id !== "string" || !/^[a-v0-9]{5,1024}$/.test(id)) return failure(400, "invalid");
    if (calendar.events.has(id)) return failure(409, "duplicate");
    const event = { status: "confirmed", iCalUID: `${id}@google.com`, ...fields, id };
    return { status: 200, body: this.#store(calendar, event) };
  }

  #patch(calendar: Calendar, id: string, { query, headers, body = {} }: GoogleRequest): Reply {
    const fault = unknownIn(query, []) ?? faultIn(body, false);
    if (fault) return fault;
    const event = calendar.events.get(id)?.event ?? this.#occurrence(calendar, id);
    if (!event) return failure(404, "notFound");
    const condition = headers["if-match"];
    if (condition !== undefined && condition !== event["etag"])
      return failure(412, "conditionNotMet");
    return { status: 200, body: this.#store(calendar, merged(event, body)) };
  }

  #delete(calendar: Calendar, id: string, { query, headers }: GoogleRequest): Reply {
    const unknown = unknownIn(query, []);
    if (unknown) return unknown;
    const event = calendar.events.get(id)?.event ?? this.#occurrence(calendar, id);
    if (!event) return failure(404, "notFound");
    if (event["status"] === "cancelled") return failure(410, "deleted");
    const condition = headers["if-match"];
    if (condition !== undefined && condition !== event["etag"])
      return failure(412, "conditionNotMet");
    if (!calendar.events.has(id)) this.#store(calendar, event);
    this.remove(String(calendar.entry["id"]), id);
    return { status: 204 };
  }

  /** An occurrence that was never changed. Its id has the start that the series gives it. */
  #occurrence({ events }: Calendar, id: string): Fields | undefined {
    const [, seriesId = "", key = ""] = /^(.+)_(\d{8}(?:T\d{6}Z)?)$/.exec(id) ?? [];
    const { event: series } = events.get(seriesId) ?? {};
    if (!series?.["recurrence"] || series["status"] === "cancelled") return undefined;
    const {
      recurrence: _,
      start,
      end,
      ...fields
    } = series as {
      recurrence: string[];
      start: Bound;
      end: Bound;
    };
    const iso = key.replace(
      /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z)?$/,
      (_all, y, m, d, h, i, s) =>
        h === undefined ? `${y}-${m}-${d}` : `${y}-${m}-${d}T${h}:${i}:${s}Z`,
    );
    const by = Date.parse(iso) - timeOf(start);
    if (Number.isNaN(by) || by < 0 || by % 86_400_000 !== 0) return undefined;
    const moved = (bound: Bound) =>
      bound.date === undefined
        ? { ...bound, dateTime: new Date(timeOf(bound) + by).toISOString() }
        : { date: new Date(timeOf(bound) + by).toISOString().slice(0, 10) };
    return {
      ...fields,
      id,
      etag: `"o-${series["etag"] as string}"`,
      recurringEventId: seriesId,
      originalStartTime: moved(start),
      start: moved(start),
      end: moved(end),
    };
  }

  #store({ events }: Calendar, event: Fields): Fields {
    const version = ++this.#version;
    const stored = {
      kind: "calendar#event",
      ...event,
      etag: `"${3_181_161_784_712_000 + version}"`,
      updated: new Date(Date.UTC(2026, 5, 1) + version * 1000).toISOString(),
    };
    events.set(String(event["id"]), { event: stored, version });
    return stored;
  }

  #calendar(id: string): Calendar {
    const calendar = this.#calendars.get(id);
    if (!calendar) throw new Error(`no calendar ${id}`);
    return calendar;
  }
}

interface Bound {
  readonly date?: string;
  readonly dateTime?: string;
  readonly timeZone?: string;
}

function timeOf({ date, dateTime }: Bound): number {
  return Date.parse(dateTime ?? date ?? "");
}

export async function startGoogle(t: TestContext): Promise<FakeGoogle> {
  const google = new FakeGoogle();
  await google.listen(t);
  return google;
}

function send(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  const type = body ? { "content-type": "application/json; charset=UTF-8" } : {};
  response.writeHead(status, { ...type, ...headers });
  response.end(body && JSON.stringify(body));
}

/** An error in the form of the service. */
export function failure(status: number, reason: string): Reply {
  const error = {
    errors: [{ domain: "global", reason, message: reason }],
    code: status,
    message: reason,
  };
  return { status, body: { error } };
}

function unknownIn(query: GoogleRequest["query"], known: readonly string[]): Reply | undefined {
  return Object.keys(query).some((name) => !known.includes(name))
    ? failure(400, "badRequest")
    : undefined;
}

function faultIn(body: Fields, isNew: boolean): Reply | undefined {
  const isUnknown = Object.keys(body).some((name) => !WRITABLE.has(name));
  if (isUnknown || (!isNew && "id" in body)) return failure(400, "badRequest");
  const { start, end, recurrence } = body as { start?: Bound; end?: Bound; recurrence?: unknown };
  if (isNew && (!start || !end)) return failure(400, "required");
  if (!start !== !end) return failure(400, "required");
  if (start && end) {
    const isRight = isBound(start) && isBound(end) && !start.date === !end.date;
    if (!isRight || timeOf(end) < timeOf(start)) return failure(400, "timeRangeEmpty");
    if (Array.isArray(recurrence) && recurrence.length > 0 && start.dateTime && !start.timeZone) {
      return failure(400, "required");
    }
  }
  if (recurrence !== undefined && recurrence !== null) {
    const lines: readonly unknown[] = Array.isArray(recurrence) ? recurrence : [0];
    const isRight = lines.every((each) => /^(RRULE|EXRULE|RDATE|EXDATE)[:;]/.test(String(each)));
    if (!isRight) return failure(400, "invalid");
  }
  return undefined;
}

/** A date, or a time with an offset, and a zone of the IANA database. */
function isBound({ date, dateTime, timeZone, ...others }: Bound): boolean {
  if (Object.keys(others).length > 0) return false;
  if (timeZone && !Intl.supportedValuesOf("timeZone").includes(timeZone) && timeZone !== "UTC")
    return false;
  if (date) return !dateTime && /^\d{4}-\d\d-\d\d$/.test(date);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(dateTime ?? "");
}

/** The semantics of PATCH: fields that are named are replaced, objects field by field, and null takes one away. */
function merged(event: Fields, patch: Fields): Fields {
  const all = Object.entries({ ...event, ...patch }).flatMap(([key, value]) => {
    if (value === null) return [];
    const before = event[key];
    const isObject = (each: unknown): each is Fields =>
      typeof each === "object" && each !== null && !Array.isArray(each);
    return [
      [
        key,
        key in patch && isObject(value) ? merged(isObject(before) ? before : {}, value) : value,
      ],
    ];
  });
  return Object.fromEntries(all) as Fields;
}

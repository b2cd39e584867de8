import type { IncomingMessage } from "node:http";
import { asTold, fault, fieldsIn, type GraphFields, occurrencesOf } from "./graph-writes.ts";
import { json, type Reply } from "./oauth-provider.ts";

export interface GraphCalendar {
  readonly id: string;
  readonly name: string;
  readonly hexColor?: string;
  /** Absent means true. */
  readonly canEdit?: boolean;
  events: readonly GraphFields[];
}

/** The fields of an event that can be selected, as far as Mantel may ask for them. */
const FIELDS = new Set(
  "id,changeKey,subject,body,bodyPreview,start,end,isAllDay,isCancelled,showAs,location,categories,responseStatus,isReminderOn,reminderMinutesBeforeStart,onlineMeeting,onlineMeetingUrl,lastModifiedDateTime,sensitivity,type,seriesMasterId,iCalUId,transactionId,originalStartTimeZone,originalEndTimeZone".split(
    ",",
  ),
);

/**
 * The calendars of Microsoft Graph 1.0: `GET /me/calendars` and `GET /me/calendars/{id}/calendarView`, in pages, and
 * single events. It refuses what the service refuses: unknown and wrong fields, ranges without both ends, pages above 999,
 * a body that was not asked for as text, other versions than `If-Match` names, and writes to calendars of others.
 */
export class FakeGraph {
  calendars: readonly GraphCalendar[];
  /** Answers in place of the service, or gives `undefined`. */
  intervene: (path: string, method: string) => Reply | undefined = () => undefined;
  /** Called after a request was carried out; true loses the answer. */
  loses: (method: string) => boolean = () => false;
  readonly requests: string[] = [];
  /** Writes with their `If-Match`. */
  readonly writes: string[] = [];
  /** Series, of which only the occurrences are listed, and removed events by `transactionId`. */
  readonly #masters = new Map<string, GraphFields>();
  #changes = 0;
  readonly #pageSize: number;

  constructor(calendars: readonly GraphCalendar[], pageSize = 2) {
    this.calendars = calendars;
    this.#pageSize = pageSize;
  }

  reply(incoming: IncomingMessage, body = ""): Reply {
    const reply = this.#reply(incoming, body);
    return this.loses(incoming.method ?? "") ? { status: 504 } : reply;
  }

  #reply({ method = "", url = "", headers }: IncomingMessage, body: string): Reply {
    const { pathname, searchParams: query } = new URL(url, `http://${headers.host ?? ""}`);
    this.requests.push(`${method} ${pathname}`);
    const other = this.intervene(pathname, method);
    if (other) return other;
    const single = /^\/v1\.0\/me\/calendars\/([^/]+)\/events(?:\/([^/]+))?$/.exec(pathname);
    if (single) {
      const [, calendarId = "", eventId = ""] = single.map((each) =>
        decodeURIComponent(each ?? ""),
      );
      const calendar = this.calendars.find(({ id }) => id === calendarId);
      if (!calendar) return fault(404, "ErrorItemNotFound");
      return this.#single(calendar, eventId, { method, headers, body, query });
    }
    if (method !== "GET") return fault(405, "MethodNotAllowed");
    const known = ["$select", "$top", "$skip", "startDateTime", "endDateTime"];
    if ([...query.keys()].some((name) => !known.includes(name))) return fault(400, "BadRequest");
    const top = Number(query.get("$top") ?? 10);
    if (!(top >= 1 && top <= 999)) return fault(400, "ErrorInvalidUrlQuery");
    const next = (values: readonly unknown[]) => this.#page(values, { url, headers, query });
    if (pathname === "/v1.0/me/calendars") {
      return next(
        this.calendars.map(({ id, name, hexColor, canEdit = true }) => ({
          id,
          name,
          hexColor,
          canEdit,
        })),
      );
    }
    const [, id] = /^\/v1\.0\/me\/calendars\/([^/]+)\/calendarView$/.exec(pathname) ?? [];
    const calendar = this.calendars.find((each) => each.id === decodeURIComponent(id ?? ""));
    if (!calendar) return fault(404, "ErrorItemNotFound");
    const [start, end] = [query.get("startDateTime"), query.get("endDateTime")];
    if (start === null || end === null || !(Date.parse(start) < Date.parse(end))) {
      return fault(400, "ErrorInvalidParameter");
    }
    const fields = (query.get("$select") ?? "id").split(",");
    if (fields.some((each) => !FIELDS.has(each))) return fault(400, "BadRequest");
    const prefer = String(headers["prefer"]);
    if (!prefer.includes('outlook.timezone="UTC"')) return fault(400, "NotUtc");
    if (!prefer.includes('outlook.body-content-type="text"')) return fault(400, "NotText");
    const isIn = (event: Readonly<Record<string, unknown>>) => {
      const { dateTime } = event["start"] as { dateTime: string };
      return dateTime >= start.replace("Z", "") && dateTime < end.replace("Z", "");
    };
    return next(
      calendar.events
        .filter(isIn)
        .map((event) => Object.fromEntries(fields.map((name) => [name, event[name]]))),
    );
  }

  #single(
    calendar: GraphCalendar,
    id: string,
    {
      method,
      headers,
      body,
      query,
    }: {
      method: string;
      headers: IncomingMessage["headers"];
      body: string;
      query: URLSearchParams;
    },
  ): Reply {
    const event = calendar.events.find((each) => each["id"] === id) ?? this.#masters.get(id);
    if (method === "GET") {
      const fields = (query.get("$select") ?? "id").split(",");
      if (fields.some((each) => !FIELDS.has(each))) return fault(400, "BadRequest");
      return event ? json(event) : fault(404, "ErrorItemNotFound");
    }
    if ([...query.keys()].length > 0) return fault(400, "BadRequest");
    if (calendar.canEdit === false) return fault(403, "ErrorAccessDenied");
    const match = headers["if-match"];
    this.writes.push(`${method} ${match ?? "-"}`);
    if (method === "POST" && id === "") return this.#create(calendar, headers, body);
    if (!event) return fault(404, "ErrorItemNotFound");
    if (match !== undefined && match !== `W/"${String(event["changeKey"])}"`) {
      return fault(412, "ErrorIrresolvableConflict");
    }
    if (method === "DELETE") {
      calendar.events = calendar.events.filter((each) => each !== event);
      return { status: 204 };
    }
    if (method !== "PATCH") return fault(405, "MethodNotAllowed");
    const read = fieldsIn(headers, body, false);
    if ("refused" in read) return read.refused;
    const changed = { ...event, ...asTold(read.fields), changeKey: `c${++this.#changes}` };
    calendar.events = calendar.events.map((each) => (each === event ? changed : each));
    return json(changed);
  }

  #create(calendar: GraphCalendar, headers: IncomingMessage["headers"], body: string): Reply {
    const read = fieldsIn(headers, body, true);
    if ("refused" in read) return read.refused;
    const { recurrence, ...fields } = read.fields;
    const { transactionId } = fields;
    const all = [...calendar.events, ...this.#masters.values()];
    const same = all.find((each) => transactionId && each["transactionId"] === transactionId);
    if (same) return json(same, 201);
    const number = ++this.#changes;
    const type = recurrence ? "seriesMaster" : "singleInstance";
    const event = { ...asTold(fields), id: `new=${number}`, changeKey: `c${number}`, type };
    if (recurrence) this.#masters.set(event.id, event);
    const listed = recurrence ? occurrencesOf(event, recurrence as never) : [event];
    calendar.events = [...calendar.events, ...listed];
    return json(event, 201);
  }

  #page(
    values: readonly unknown[],
    {
      url,
      headers,
      query,
    }: { url: string; headers: IncomingMessage["headers"]; query: URLSearchParams },
  ): Reply {
    const skip = Number(query.get("$skip") ?? 0);
    const value = values.slice(skip, skip + this.#pageSize);
    const isLast = skip + this.#pageSize >= values.length;
    const link = new URL(url, `http://${headers.host ?? ""}`);
    link.searchParams.set("$skip", String(skip + this.#pageSize));
    return json({
      "@odata.context": "…/$metadata",
      value,
      ...(isLast ? {} : { "@odata.nextLink": link.href }),
    });
  }
}

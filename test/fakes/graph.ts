import type { IncomingMessage } from "node:http";
import { json, type Reply } from "./oauth-provider.ts";

export interface GraphCalendar {
  readonly id: string;
  readonly name: string;
  readonly hexColor?: string;
  events: readonly Readonly<Record<string, unknown>>[];
}

/** The fields of an event that can be selected, as far as Mantel may ask for them. */
const FIELDS = new Set(
  "id,changeKey,subject,body,bodyPreview,start,end,isAllDay,isCancelled,showAs,location,categories,responseStatus,isReminderOn,reminderMinutesBeforeStart,onlineMeeting,onlineMeetingUrl,lastModifiedDateTime,sensitivity,type,seriesMasterId,iCalUId".split(
    ",",
  ),
);

/**
 * The calendars of Microsoft Graph 1.0: `GET /me/calendars` and `GET /me/calendars/{id}/calendarView`, in pages. It
 * refuses what the service refuses: unknown fields, ranges without both ends, pages above 999, a body that was not asked
 * for as text, and writes.
 */
export class FakeGraph {
  calendars: readonly GraphCalendar[];
  /** Answers in place of the service, or gives `undefined`. */
  intervene: (path: string) => Reply | undefined = () => undefined;
  readonly requests: string[] = [];
  readonly #pageSize: number;

  constructor(calendars: readonly GraphCalendar[], pageSize = 2) {
    this.calendars = calendars;
    this.#pageSize = pageSize;
  }

  reply({ method, url = "", headers }: IncomingMessage): Reply {
    const { pathname, searchParams: query } = new URL(url, `http://${headers.host ?? ""}`);
    this.requests.push(`${method ?? ""} ${pathname}`);
    const other = this.intervene(pathname);
    if (other) return other;
    if (method !== "GET") return fault(403, "ErrorAccessDenied");
    const known = ["$select", "$top", "$skip", "startDateTime", "endDateTime"];
    if ([...query.keys()].some((name) => !known.includes(name))) return fault(400, "BadRequest");
    const top = Number(query.get("$top") ?? 10);
    if (!(top >= 1 && top <= 999)) return fault(400, "ErrorInvalidUrlQuery");
    const next = (values: readonly unknown[]) => this.#page(values, { url, headers, query });
    if (pathname === "/v1.0/me/calendars") {
      return next(this.calendars.map(({ id, name, hexColor }) => ({ id, name, hexColor })));
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

function fault(status: number, code: string): Reply {
  return json({ error: { code, message: "as the service says" } }, status);
}

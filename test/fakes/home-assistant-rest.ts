import type { IncomingMessage, ServerResponse } from "node:http";
import type { Json } from "./home-assistant-services.ts";

/** An event as the REST API tells of it. Dates are days without a time zone. */
export interface FakeEvent {
  readonly summary: string;
  readonly start: { readonly date: string } | { readonly dateTime: string };
  readonly end: { readonly date: string } | { readonly dateTime: string };
  readonly description?: string | null;
  readonly location?: string | null;
  readonly uid?: string | null;
  readonly recurrence_id?: string | null;
  readonly rrule?: string | null;
}

/** The data of the REST API. */
export interface RestData {
  readonly token: string;
  /** The pictures of cameras and images, with their media types, by entity id. */
  readonly pictures: ReadonlyMap<string, { readonly type: string; readonly bytes: Buffer }>;
  /** The events of calendars, by entity id. `undefined` fails as a calendar does that cannot be read. */
  readonly calendars: ReadonlyMap<string, readonly FakeEvent[] | undefined>;
  /** The paths that were read, with their queries. */
  readonly read: string[];
}

/** Answers a request as the REST API does (developers.home-assistant.io/docs/api/rest). */
export function answerRest(
  { token, pictures, calendars, read }: RestData,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
  const [, api, resource, id = ""] = pathname.split("/");
  if (api !== "api") return void response.writeHead(404).end();
  if (request.headers.authorization !== `Bearer ${token}`) {
    return void response.writeHead(401).end("401: Unauthorized");
  }
  read.push(request.url ?? "");
  if (resource === "camera_proxy_stream") return answerFrames(pictures.get(id), response);
  if (/^(camera|image|media_player)_proxy$/.test(resource ?? "")) {
    const picture = pictures.get(id);
    if (!picture) return void response.writeHead(404).end("404: Not Found");
    return void response.writeHead(200, { "content-type": picture.type }).end(picture.bytes);
  }
  if (resource !== "calendars") return void response.writeHead(404).end("404: Not Found");
  answerEvents(calendars, [id, searchParams.get("start"), searchParams.get("end")], response);
}

/** Motion JPEG with two equal pictures, which then sends no further ones. The boundary parameter has its dashes. */
function answerFrames(
  picture: { readonly type: string; readonly bytes: Buffer } | undefined,
  response: ServerResponse,
): void {
  if (!picture) return void response.writeHead(404).end("404: Not Found");
  const { type, bytes } = picture;
  const boundary = "--frameboundary";
  response.writeHead(200, { "content-type": `multipart/x-mixed-replace; boundary=${boundary}` });
  for (let count = 0; count < 2; count++) {
    response.write(
      `${boundary}\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`,
    );
    response.write(Buffer.concat([bytes, Buffer.from("\r\n")]));
  }
}

function answerEvents(
  calendars: RestData["calendars"],
  [id, start, end]: readonly [string, string | null, string | null],
  response: ServerResponse,
): void {
  const [from, to] = [Date.parse(start ?? ""), Date.parse(end ?? "")];
  if (!calendars.has(id) || !(from <= to)) return void response.writeHead(400).end();
  const events = calendars.get(id);
  if (!events) return sendJson(response, 500, { message: "Error reading events: it is away" });
  const found = events.filter(
    (event) => instantOf(event.start) < to && instantOf(event.end) > from,
  );
  sendJson(response, 200, found.map(withAllFields));
}

const instantOf = (bound: FakeEvent["start"]) =>
  Date.parse("date" in bound ? bound.date : bound.dateTime);

/** Absent texts are null. */
function withAllFields(event: FakeEvent): Json {
  return {
    description: null,
    location: null,
    uid: null,
    recurrence_id: null,
    rrule: null,
    ...event,
  };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

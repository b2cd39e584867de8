import { MantelError, sentence } from "@mantel/plugin-sdk";
import { transferMs, type WebOptions } from "../options.ts";
import type { DaysRead } from "../source.ts";
import { authorizedRequest } from "./authorized-request.ts";
import type { DavChanges } from "./dav-changes.ts";
import type { CalendarServer, DavCollection, DavHome } from "./dav.ts";
import { answeredWith, fetchError } from "./fetch-error.ts";
import {
  addressText,
  GRAPH_FIELDS,
  type GraphEvent,
  isGraphEvent,
  objectOf,
} from "./graph-event.ts";
import { IDLE_MS } from "./guarded-request.ts";
import type { DavObject } from "./object-files.ts";

/** The days around now whose events are read; the server works out repetitions within them. */
export const GRAPH_DAYS: DaysRead = { before: 62, after: 400 };
const DAY_MS = 86_400_000;
const PAGE = 200;
const MOST_PAGES = 100;

const ODD_ANSWER = sentence("odd_graph_answer", "Microsoft gives an answer of another form");

/**
 * Reads the calendars of a Microsoft account through Microsoft Graph 1.0 (`/me/calendars` and `calendarView`), each
 * occurrence as an object of its own.
 */
export class GraphServer implements CalendarServer {
  readonly #account: WebOptions;
  readonly #signal: AbortSignal;
  /** Events that were listed, until they are asked for; by calendar and path. */
  readonly #listed = new Map<string, Map<string, GraphEvent>>();

  /** `account.url` is the address of the service, such as `https://graph.microsoft.com/v1.0`. */
  constructor(account: WebOptions, signal: AbortSignal) {
    this.#account = account;
    this.#signal = signal;
  }

  async discover(): Promise<DavHome> {
    return { url: this.#account.url.replace(/\/$/, ""), single: false };
  }

  async userAddresses(): Promise<string[]> {
    return [];
  }

  async collections({ url }: DavHome): Promise<DavCollection[]> {
    const found = await this.#pages(
      `${url}/me/calendars?$select=id,name,hexColor,canEdit&$top=${PAGE}`,
    );
    return found.flatMap((each) => {
      const id = addressText(each["id"]);
      if (id === undefined) return [];
      const color = each["hexColor"];
      return {
        url: `${url}/me/calendars/${encodeURIComponent(id)}`,
        name: typeof each["name"] === "string" ? each["name"] : undefined,
        color: typeof color === "string" && color !== "" ? color : undefined,
        tag: undefined,
        hasTasks: false,
        isReadOnly: each["canEdit"] === false,
      };
    });
  }

  async changes(url: string): Promise<DavChanges> {
    const at = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
    const range = `startDateTime=${at(-GRAPH_DAYS.before)}T00:00:00Z&endDateTime=${at(GRAPH_DAYS.after + 1)}T00:00:00Z`;
    const found = await this.#pages(
      `${url}/calendarView?${range}&$select=${GRAPH_FIELDS}&$top=${PAGE}`,
    );
    const listed = new Map<string, GraphEvent>();
    const changed = new Map<string, string | undefined>();
    for (const event of found) {
      if (!isGraphEvent(event)) continue;
      const path = `${new URL(url).pathname}/events/${encodeURIComponent(event.id)}`;
      listed.set(path, event);
      changed.set(path, event.changeKey);
    }
    this.#listed.set(url, listed);
    return { token: undefined, whole: true, changed, deletedPaths: new Set() };
  }

  async pathsSince(): Promise<ReadonlySet<string>> {
    return new Set();
  }

  async objects(url: string, paths: readonly string[]): Promise<Map<string, DavObject>> {
    const listed = this.#listed.get(url);
    const objects = new Map<string, DavObject>();
    for (const path of paths) {
      const event = listed?.get(path);
      if (!event) continue;
      objects.set(path, { etag: event.changeKey, data: objectOf(event, this.#account.username) });
      listed?.delete(path);
    }
    return objects;
  }

  /** The values of a list, with those of its further pages. @throws MantelError */
  async #pages(first: string): Promise<Record<string, unknown>[]> {
    const values: Record<string, unknown>[] = [];
    let next: string | undefined = first;
    for (let page = 0; next !== undefined; page++) {
      if (page === MOST_PAGES || values.length > MOST_PAGES * PAGE)
        throw new MantelError("invalid", TOO_MANY);
      const { value, "@odata.nextLink": link } = await this.#get(next);
      if (!Array.isArray(value)) throw new MantelError("invalid", ODD_ANSWER);
      values.push(...value.filter((each) => typeof each === "object" && each !== null));
      next = link === undefined ? undefined : this.#ownLink(link);
    }
    return values;
  }

  /** A link to the next page, which must be at the same server. */
  #ownLink(link: unknown): string {
    const url = typeof link === "string" && URL.canParse(link) ? new URL(link) : undefined;
    if (url?.origin === new URL(this.#account.url).origin) return url.href;
    throw new MantelError("invalid", ODD_ANSWER);
  }

  async #get(url: string): Promise<Record<string, unknown>> {
    const origin = new URL(this.#account.url).origin;
    const { status, headers, body } = await authorizedRequest(this.#account, {
      url,
      headers: {
        accept: "application/json",
        prefer: 'outlook.timezone="UTC", outlook.body-content-type="text", IdType="ImmutableId"',
      },
      trusts: (address) => address.origin === origin,
      allowPrivate: this.#account.allowPrivate,
      follow: false,
      limits: { idleMs: IDLE_MS, totalMs: transferMs(this.#account) },
      signal: this.#signal,
    });
    if (status === 403 || status === 429 || status === 503) throw fetchError(status, headers);
    if (status !== 200) throw new MantelError("invalid", answeredWith(status));
    try {
      const answer: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
      if (typeof answer === "object" && answer !== null) return answer as Record<string, unknown>;
    } catch {
      // as any other answer that is not the expected one
    }
    throw new MantelError("invalid", ODD_ANSWER);
  }
}

const TOO_MANY = sentence(
  "too_many_graph_events",
  "the calendar has more than {most} events in a year",
  {
    most: MOST_PAGES * PAGE,
  },
);

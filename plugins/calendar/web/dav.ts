import { MantelError, sentence } from "@mantel/plugin-sdk";
import {
  DAVNamespace,
  type DAVResponse,
  davRequest,
  fetchHomeUrl,
  fetchPrincipalUrl,
  getDAVAttribute,
  propfind,
  serviceDiscovery,
} from "tsdav";
import { transferMs, type WebOptions } from "../options.ts";
import { authorizedRequest } from "./authorized-request.ts";
import { isSameSite } from "./credentials.ts";
import { changesSince, type DavChanges } from "./dav-changes.ts";
import { keysOf, pathOf, refuseTruncated, propertyText, responseParts } from "./dav-value.ts";
import { fetchError, rateError } from "./fetch-error.ts";
import { IDLE_MS } from "./guarded-request.ts";
import type { DavObject } from "./object-files.ts";

/** The URL of an account's collections or, if `single`, of the only one wanted. */
export interface DavHome {
  readonly url: string;
  readonly single: boolean;
  /** The URL of the account's user, if the server tells it. */
  readonly principal?: string;
}

/** A calendar or address book of an account. */
export interface DavCollection {
  readonly url: string;
  readonly name: string | undefined;
  readonly color: string | undefined;
  /** Changes whenever the content changes; `undefined` if the server has no such tag. */
  readonly tag: string | undefined;
  /** True if it can have tasks. */
  readonly hasTasks: boolean;
  /** True if it cannot be changed, as far as the server tells. */
  readonly isReadOnly?: boolean;
}

/** The name by which users choose a collection: its own, or its path. */
export function nameOf({ name, url }: DavCollection): string {
  return (name ?? new URL(url).pathname).slice(0, 100);
}

const KINDS = {
  caldav: { type: "calendar", prefix: "c", data: "calendar-data", home: "calendarHomeSet" },
  carddav: {
    type: "addressbook",
    prefix: "card",
    data: "address-data",
    home: "addressbookHomeSet",
  },
} as const;
export type DavKind = keyof typeof KINDS;

/** A server of an account with calendars or address books. All methods throw MantelError `invalid` or `deadline_passed`. */
export interface CalendarServer {
  /** Finds the home of the account. */
  readonly discover: () => Promise<DavHome>;
  /** The mail addresses of the account's user; `undefined` if the server does not answer that. */
  readonly userAddresses: (home: DavHome) => Promise<string[] | undefined>;
  /** All collections of the account. */
  readonly collections: (home: DavHome) => Promise<DavCollection[]>;
  /** The changes in a collection since a token; everything without one. */
  readonly changes: (url: string, token: string | undefined) => Promise<DavChanges>;
  /** The paths of objects with occurrences since an instant; empty if the server does not tell. */
  readonly pathsSince: (url: string, instant: number) => Promise<ReadonlySet<string>>;
  /** The objects with these paths that still exist, at most a few dozen. */
  readonly objects: (url: string, paths: readonly string[]) => Promise<Map<string, DavObject>>;
}

/**
 * Client for CalDAV (RFC 4791) and CardDAV (RFC 6352) servers. It never asks them to expand or to
 * filter by time, because servers do that wrongly. Every request is guarded like any download.
 * All methods throw MantelError `invalid` or `deadline_passed`.
 */
export class DavServer implements CalendarServer {
  readonly #account: WebOptions;
  readonly #kind: DavKind;
  readonly #signal: AbortSignal;

  /** @param account with an address for HTTP */
  constructor(account: WebOptions, kind: DavKind, signal: AbortSignal) {
    this.#account = account;
    this.#kind = kind;
    this.#signal = signal;
  }

  /** Finds the home of the account from any address of it (RFC 6764, 6). */
  async discover(): Promise<DavHome> {
    const { url: serverUrl } = this.#account;
    const { type, home } = KINDS[this.#kind];
    const props = { ...PROPERTIES, "d:current-user-principal": {} };
    const look = { url: serverUrl, depth: "0", props, fetch: this.#fetch } as const;
    const [here] = await propfind(look); // an address that only redirects may refuse
    if (here && keysOf(here.props?.["resourcetype"]).includes(type)) {
      return { url: serverUrl, single: true, ...principalIn(here.props, serverUrl) };
    }
    const known = propertyText(here?.props?.[home]);
    if (known !== undefined) {
      const url = new URL(known, serverUrl).href;
      return { url, single: false, ...principalIn(here?.props, serverUrl) };
    }
    const account = { serverUrl, accountType: this.#kind };
    const fetch = this.#fetch;
    try {
      const rootUrl = await serviceDiscovery({ account, fetch });
      const principalUrl = await fetchPrincipalUrl({ account: { ...account, rootUrl }, fetch });
      const found = { ...account, rootUrl, principalUrl };
      const url = await fetchHomeUrl({ account: found, fetch });
      return { url, single: false, principal: principalUrl };
    } catch (error) {
      throw error instanceof MantelError ? error : this.#notFound(error);
    }
  }

  /**
   * The mail addresses of the account's user (RFC 6638, 2.4.1), in one request; `undefined` if the server does not answer
   * it.
   */
  async userAddresses({ principal }: DavHome): Promise<string[] | undefined> {
    if (principal === undefined) return [];
    try {
      const props = { "c:calendar-user-address-set": {} };
      const asked = { url: principal, depth: "0", props, fetch: this.#fetch } as const;
      const [user] = responseParts(await propfind(asked));
      return mailAddressesIn(user?.props?.["calendarUserAddressSet"]);
    } catch {
      return undefined; // calendars are shown without them
    }
  }

  /** All collections of the account, in one request. */
  async collections({ url, single }: DavHome): Promise<DavCollection[]> {
    const responses = await this.#properties(url, single ? "0" : "1");
    const { type } = KINDS[this.#kind];
    return responses
      .filter(({ props }) => keysOf(props?.["resourcetype"]).includes(type))
      .filter(({ props }) => holds(props, "VEVENT") || holds(props, "VTODO"))
      .map(({ href, props }) => ({
        url: new URL(href ?? "", url).href,
        name: propertyText(props?.["displayname"]),
        color: propertyText(props?.["calendarColor"]),
        tag: propertyText(props?.["syncToken"]) ?? propertyText(props?.["getctag"]),
        hasTasks: this.#kind === "caldav" && holds(props, "VTODO"),
      }));
  }

  /** The changes in a collection since a token; everything without one. */
  changes(url: string, token: string | undefined): Promise<DavChanges> {
    return changesSince({ url, fetch: this.#fetch }, token);
  }

  /**
   * The paths of objects with occurrences since an instant, only to decide what to read first, because servers filter
   * wrongly. Empty if the server does not tell.
   */
  async pathsSince(url: string, instant: number): Promise<ReadonlySet<string>> {
    if (this.#kind !== "caldav") return new Set();
    const start = `${new Date(instant).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
    const range = { "c:time-range": { _attributes: { start } } };
    const event = { _attributes: { name: "VEVENT" }, ...range };
    const calendar = { _attributes: { name: "VCALENDAR" }, "c:comp-filter": event };
    const body = {
      "calendar-query": {
        _attributes: getDAVAttribute([DAVNamespace.DAV, DAVNamespace.CALDAV]),
        "d:prop": { "d:getetag": {} },
        "c:filter": { "c:comp-filter": calendar },
      },
    };
    const init = { method: "REPORT", namespace: "c", headers: { depth: "1" }, body } as const;
    try {
      const responses = responseParts(await davRequest({ url, init, fetch: this.#fetch }));
      return new Set(responses.map(({ href }) => pathOf(href ?? "", url)));
    } catch {
      return new Set(); // then the order is that of the server
    }
  }

  /** The objects with these paths that still exist, at most a few dozen. */
  async objects(url: string, paths: readonly string[]): Promise<Map<string, DavObject>> {
    const { prefix, type, data } = KINDS[this.#kind];
    const objects = new Map<string, DavObject>();
    const body = {
      [`${type}-multiget`]: {
        _attributes: getDAVAttribute([DAVNamespace.DAV, DAVNamespace.CALDAV, DAVNamespace.CARDDAV]),
        "d:prop": { "d:getetag": {}, [`${prefix}:${data}`]: {} },
        "d:href": paths,
      },
    };
    const init = { method: "REPORT", namespace: prefix, headers: { depth: "1" }, body } as const;
    const responses = responseParts(await davRequest({ url, init, fetch: this.#fetch }));
    for (const { href, props } of responses) {
      const text = propertyText(props?.["calendarData"] ?? props?.["addressData"]);
      if (href === undefined || text === undefined) continue;
      objects.set(pathOf(href, url), { etag: propertyText(props?.["getetag"]), data: text });
    }
    return objects;
  }

  async #properties(url: string, depth: "0" | "1"): Promise<readonly DAVResponse[]> {
    const responses = responseParts(
      await propfind({ url, depth, props: PROPERTIES, fetch: this.#fetch }),
    );
    if (responses.some(({ props }) => props !== undefined)) return responses;
    throw this.#notFound(undefined);
  }

  #notFound(cause: unknown): MantelError {
    return new MantelError("invalid", this.#kind === "caldav" ? NO_CALENDARS : NO_CONTACTS, {
      cause,
    });
  }

  /**
   * The `fetch` of tsdav: each redirect is checked, and the password is only sent to the account's
   * site.
   */
  readonly #fetch: typeof fetch = async (target, init = {}) => {
    const { url, allowPrivate, fingerprint, authorityFile } = this.#account;
    const first = new URL(url);
    const {
      status,
      headers,
      body: answer,
    } = await authorizedRequest(this.#account, {
      url: target instanceof Request ? target.url : String(target),
      method: init.method,
      headers: Object.fromEntries(new Headers(init.headers)),
      trusts: (address) => isSameSite(first, address),
      body: typeof init.body === "string" ? init.body : undefined,
      allowPrivate,
      trust: { fingerprint, authorityFile },
      limits: { idleMs: IDLE_MS, totalMs: transferMs(this.#account) },
      follow: init.redirect !== "manual",
      readsRefusal: true,
      signal: this.#signal,
    });
    const tooOften = rateError(status, headers, answer);
    if (tooOften) throw tooOften;
    const body = status < 300 ? answer : new Uint8Array();
    if (UNMISTAKABLE.has(status)) throw fetchError(status, headers);
    refuseTooMany(body);
    if (status === 207) refuseTruncated(body);
    const { location, "content-type": type } = headers;
    return new Response(body.length > 0 ? Buffer.from(body) : null, {
      status,
      headers: { ...(type ? { "content-type": type } : {}), ...(location ? { location } : {}) },
    });
  };
}

const NO_CALENDARS = sentence(
  "no_calendars_there",
  "no calendars were found at this address: give the address of the provider's caldav server",
);
const NO_CONTACTS = sentence(
  "no_contacts_there",
  "no contacts were found at this address: give the address of the provider's carddav server",
);
const TOO_MANY_PARTS = sentence(
  "too_many_parts",
  "the server's answer has too many parts: split the calendar there",
);

/**
 * Parsing XML blocks the process and needs memory per element: half a second for this many, which
 * is the list of 12,000 events.
 */
const MAX_ELEMENTS = 150_000;

/** Counts starts of elements (`<`) and attributes (`=`). */
function refuseTooMany(xml: Uint8Array): void {
  let count = 0;
  for (const byte of xml) if (byte === 0x3c || byte === 0x3d) count++;
  if (count <= MAX_ELEMENTS) return;
  throw new MantelError("invalid", TOO_MANY_PARTS);
}

/**
 * Status codes with one meaning for any request; others may only mean that a request is not
 * supported.
 */
const UNMISTAKABLE = new Set([401, 429, 503]);

const PROPERTIES = {
  "d:resourcetype": {},
  "d:displayname": {},
  "d:sync-token": {},
  "d:getetag": {},
  "cs:getctag": {},
  "ca:calendar-color": {},
  "c:supported-calendar-component-set": {},
  "c:calendar-home-set": {},
  "card:addressbook-home-set": {},
};

function principalIn(props: DAVResponse["props"], base: string): Pick<DavHome, "principal"> {
  const principal = propertyText(props?.["currentUserPrincipal"]);
  return principal === undefined ? {} : { principal: new URL(principal, base).href };
}

const MAX_ADDRESSES = 20;

/** The `mailto:` addresses of a property; servers have other kinds of addresses in it as well. */
function mailAddressesIn(property: unknown): string[] {
  const { href } = (property ?? {}) as { readonly href?: unknown };
  return [href]
    .flat()
    .map((each) => propertyText(each) ?? "")
    .filter((text) => /^mailto:[^@\s]+@\S+$/i.test(text) && text.length <= 320)
    .slice(0, MAX_ADDRESSES);
}

/** True if a collection can have components of a kind; one without this property may hold anything. */
function holds(props: DAVResponse["props"], kind: "VEVENT" | "VTODO"): boolean {
  const names = JSON.stringify(props?.["supportedCalendarComponentSet"] ?? null);
  return names === "null" || names === "{}" || names.includes(`"${kind}"`);
}

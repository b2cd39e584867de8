import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { onTestEnd } from "../helpers/on-test-end.ts";
import { type DavPrefixes, DavXml } from "./dav-xml.ts";

/** A calendar of the account: its name, and what its objects hold, by file name. */
export interface DavCalendar {
  readonly name: string;
  objects: Readonly<Record<string, string>>;
}

export interface DavRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly authorization: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface DavReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** True closes the connection in place of the end of the body. */
  readonly isCut?: boolean;
}

export interface DavAccountOptions {
  readonly prefixes?: DavPrefixes;
  /** True for what objects hold as CDATA, as iCloud has it. */
  readonly cdata?: boolean;
  /** For HTTPS. */
  readonly secure?: { readonly cert: string; readonly key: string };
  /** The entity tags of objects; absent means good ones. */
  readonly etags?: "none" | "weak" | "changing";
  /** True gives objects other paths in every list; all of them lead to the object. */
  readonly hasChangingPaths?: boolean;
  /** Milliseconds that the clock of the server is ahead. */
  readonly clockMs?: number;
}

/**
 * A CalDAV account on loopback that stores what it is sent, and hands out whatever it is given, also what a real server
 * would refuse to take.
 */
export interface DavAccount {
  readonly url: string;
  /** By the last part of their address. */
  readonly calendars: Map<string, DavCalendar>;
  /** Answers in place of the account, or gives `undefined`. */
  intervene: (request: DavRequest) => DavReply | undefined;
  /** `PROPFIND /home/`, in the order they came. */
  readonly requests: string[];
}

/** Serves an account until the test ends: its principal, home, calendars, sync tokens and objects. */
export async function serveDavAccount(
  t: TestContext,
  options: DavAccountOptions = {},
): Promise<DavAccount> {
  const calendars = new Map<string, DavCalendar>();
  const protocol = new Protocol(calendars, options);
  const account: DavAccount = { url: "", calendars, requests: [], intervene: () => undefined };
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = "", url: path = "" } = incoming;
    const { authorization } = incoming.headers;
    const { headers } = incoming;
    const request = { method, path, authorization, headers, body: await text(incoming) };
    account.requests.push(`${method} ${path}`);
    const reply = account.intervene(request) ?? protocol.reply(request);
    const date = new Date(Date.now() + (options.clockMs ?? 0)).toUTCString();
    response.writeHead(reply.status, { ...XML, date, ...reply.headers });
    if (!reply.isCut) return void response.end(reply.body);
    response.write(reply.body ?? "", () => incoming.socket.destroy());
  };
  const listener = (incoming: IncomingMessage, response: ServerResponse) =>
    void answer(incoming, response);
  const { secure } = options;
  const server = secure ? createSecureServer(secure, listener) : createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestEnd(t, async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(account, { url: `${secure ? "https" : "http"}://127.0.0.1:${port}` });
}

const XML = { "content-type": 'application/xml; charset="utf-8"' };

/** The protocol of the account, from its address to the objects of its calendars. */
class Protocol {
  readonly #calendars: DavAccount["calendars"];
  readonly #options: DavAccountOptions;
  readonly #xml: DavXml;
  /** The objects of a calendar at each sync token that was given out. */
  readonly #states = new Map<string, DavCalendar["objects"]>();
  #answers = 0;

  constructor(calendars: DavAccount["calendars"], options: DavAccountOptions) {
    this.#calendars = calendars;
    this.#options = options;
    this.#xml = new DavXml(options.prefixes, options.cdata);
  }

  reply(request: DavRequest): DavReply {
    const { method, path } = request;
    const [, area, id = "", file = ""] = path.split("/");
    const calendar = this.#calendars.get(id);
    this.#answers++;
    if (path === "/.well-known/caldav") return { status: 301, headers: { location: "/" } };
    if (["GET", "PUT", "DELETE"].includes(method)) {
      return calendar ? this.#object(calendar, this.#nameOf(file), request) : { status: 404 };
    }
    if (!["PROPFIND", "REPORT"].includes(method)) return { status: 405 };
    if (calendar) return this.#calendar(path, calendar, request);
    if (area === "home" && id === "") return this.#home();
    const { d, c } = this.#xml;
    if (path === "/")
      return this.#about(path, d("current-user-principal", d("href", "/principal/")));
    if (path === "/principal/")
      return this.#about(path, c("calendar-home-set", d("href", "/home/")));
    return { status: 404 };
  }

  #about(path: string, known: string): DavReply {
    return this.#xml.multistatus(this.#xml.response(path, known));
  }

  #home(): DavReply {
    const { d, c, cs, response, multistatus } = this.#xml;
    const home = response("/home/", d("resourcetype", d("collection")));
    const each = [...this.#calendars].map(([id, { name, objects }]) =>
      response(
        `/home/${id}/`,
        d("resourcetype", d("collection") + c("calendar")) +
          d("displayname", name) +
          cs("getctag", tagOf(objects)),
      ),
    );
    return multistatus(home, ...each);
  }

  /** The files of a calendar with their ETags, and with what they hold when they are asked for. */
  #files(path: string, objects: DavCalendar["objects"], isAsked?: (path: string) => boolean) {
    const { d, c, data, response } = this.#xml;
    return Object.entries(objects)
      .map(([file, content]) => ({ href: path + this.#pathOf(file), content }))
      .filter(({ href }) => isAsked?.(href) ?? true)
      .map(({ href, content }) => {
        const tag = this.#etagOf(content);
        const etag = tag === undefined ? "" : d("getetag", tag);
        return response(href, isAsked ? etag + c("calendar-data", data(content)) : etag);
      });
  }

  #calendar(path: string, { objects }: DavCalendar, { method, body }: DavRequest): DavReply {
    const { multistatus } = this.#xml;
    if (method !== "REPORT") return multistatus(...this.#files(path, objects));
    if (body.includes("sync-collection")) return this.#changes(path, objects, body);
    const isAsked = this.#options.hasChangingPaths
      ? (href: string) => body.includes(`-${href.split("-").at(-1)}<`)
      : (href: string) => body.includes(`${href}<`);
    return multistatus(...this.#files(path, objects, isAsked));
  }

  /** The changes since a token (RFC 6578). */
  #changes(path: string, objects: DavCalendar["objects"], body: string): DavReply {
    const { d, multistatus } = this.#xml;
    const [, token = ""] = /sync-token>([^<]*)</.exec(body) ?? [];
    const before = token === "" ? {} : this.#states.get(token);
    if (!before) return { status: 403, body: d("error", d("valid-sync-token")) };
    const now = tagOf(objects);
    this.#states.set(now, objects);
    const changed = Object.fromEntries(
      Object.entries(objects).filter(([file, content]) => before[file] !== content),
    );
    const gone = Object.keys(before).filter((file) => !Object.hasOwn(objects, file));
    const removed = gone.map((file) =>
      d("response", d("href", path + this.#pathOf(file)) + d("status", "HTTP/1.1 404 Not Found")),
    );
    return multistatus(...this.#files(path, changed), ...removed, d("sync-token", now));
  }

  #object(calendar: DavCalendar, file: string, { method, headers, body }: DavRequest): DavReply {
    const content = Object.hasOwn(calendar.objects, file) ? calendar.objects[file] : undefined;
    const etag = content === undefined ? undefined : this.#etagOf(content);
    if (!isMet(headers, content === undefined ? undefined : (etag ?? ""))) return { status: 412 };
    const { [file]: _, ...others } = calendar.objects;
    if (method === "PUT") {
      calendar.objects = { ...calendar.objects, [file]: body };
      const stored = this.#etagOf(body);
      const status = content === undefined ? 201 : 204;
      return { status, headers: stored === undefined ? {} : { etag: stored } };
    }
    if (content === undefined) return { status: 404 };
    if (method === "GET") {
      const tag = etag === undefined ? {} : { etag };
      return { status: 200, headers: { "content-type": "text/calendar", ...tag }, body: content };
    }
    calendar.objects = others;
    return { status: 204 };
  }

  #etagOf(content: string): string | undefined {
    switch (this.#options.etags) {
      case "none":
        return undefined;
      case "weak":
        return `W/"${tagOf(content)}"`;
      case "changing":
        return `"${this.#answers}"`;
      case undefined:
        return `"${tagOf(content)}"`;
    }
  }

  #pathOf(file: string): string {
    const name = encodeURIComponent(file);
    return this.#options.hasChangingPaths ? `${this.#answers}-${name}` : name;
  }

  #nameOf(path: string): string {
    const name = decodeURIComponent(path);
    return this.#options.hasChangingPaths ? name.replace(/^\d+-/, "") : name;
  }
}

/** The preconditions of a request (RFC 9110, 13.1). `etag` is undefined if there is no object. */
function isMet(headers: IncomingHttpHeaders, etag: string | undefined): boolean {
  const { "if-match": ifMatch, "if-none-match": ifNoneMatch } = headers;
  if (ifNoneMatch === "*" && etag !== undefined) return false;
  if (ifMatch === undefined) return true;
  const isStrong = etag !== "" && !etag?.startsWith("W/");
  return ifMatch === "*" ? etag !== undefined : isStrong && ifMatch === etag;
}

/** Changes with what it is made of. */
function tagOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 16);
}

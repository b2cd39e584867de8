import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
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
}

export interface DavReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface DavAccountOptions {
  readonly prefixes?: DavPrefixes;
  /** True for what objects hold as CDATA, as iCloud has it. */
  readonly cdata?: boolean;
  /** For HTTPS. */
  readonly secure?: { readonly cert: string; readonly key: string };
}

/** A CalDAV account on loopback that hands out whatever it is given, also what a real server would refuse to take. */
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
    const request = { method, path, authorization, body: await text(incoming) };
    account.requests.push(`${method} ${path}`);
    const reply = account.intervene(request) ?? protocol.reply(request);
    response.writeHead(reply.status, { ...XML, ...reply.headers }).end(reply.body);
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
  readonly #xml: DavXml;

  constructor(calendars: DavAccount["calendars"], { prefixes, cdata }: DavAccountOptions) {
    this.#calendars = calendars;
    this.#xml = new DavXml(prefixes, cdata);
  }

  reply(request: DavRequest): DavReply {
    const { method, path } = request;
    const [, area, id = ""] = path.split("/");
    const calendar = this.#calendars.get(id);
    if (path === "/.well-known/caldav") return { status: 301, headers: { location: "/" } };
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
      .map(([file, content]) => ({ href: path + encodeURIComponent(file), content }))
      .filter(({ href }) => isAsked?.(href) ?? true)
      .map(({ href, content }) => {
        const etag = d("getetag", `"${tagOf(content)}"`);
        return response(href, isAsked ? etag + c("calendar-data", data(content)) : etag);
      });
  }

  #calendar(path: string, { objects }: DavCalendar, { method, body }: DavRequest): DavReply {
    const { d, multistatus } = this.#xml;
    if (method !== "REPORT") return multistatus(...this.#files(path, objects));
    if (body.includes("sync-collection"))
      return multistatus(...this.#files(path, objects), d("sync-token", tagOf(objects)));
    return multistatus(...this.#files(path, objects, (href) => body.includes(`${href}<`)));
  }
}

/** Changes with what it is made of. */
function tagOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 16);
}

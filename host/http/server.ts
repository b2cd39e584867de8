import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type Koa from "koa";
import type { RequestState } from "./route.ts";

const HEAD_DEADLINE_MS = 10_000;
const REQUEST_DEADLINE_MS = 20_000;
const MAX_HEAD_BYTES = 16 * 2 ** 10;
const MAX_CONNECTIONS = 4_096;
const SWEEP_EVERY_MS = 20;
/** Addresses to listen on, and not to connect to: where this machine itself finds them. */
const WILDCARDS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

export interface ListenOptions {
  readonly app: Koa<RequestState>;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Listens for requests, within bounds on how slowly and how largely they may come. */
export class HttpServer {
  readonly #server: Server;
  /** Where it answers, such as `http://127.0.0.1:8470`. */
  readonly url: string;

  private constructor(server: Server, host: string) {
    const { port } = server.address() as AddressInfo;
    this.#server = server;
    const reached = WILDCARDS[host] ?? host;
    this.url = `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
  }

  /** @throws Error with a sentence for people when the address cannot be had */
  static async listen({ app, host, port }: ListenOptions): Promise<HttpServer> {
    const answer = app.callback();
    const server = createServer(
      {
        headersTimeout: HEAD_DEADLINE_MS,
        requestTimeout: REQUEST_DEADLINE_MS,
        connectionsCheckingInterval: 1_000,
        maxHeaderSize: MAX_HEAD_BYTES,
      },
      (request, response) => void answer(request, response),
    );
    server.maxConnections = MAX_CONNECTIONS;
    server.listen(port, host);
    try {
      await once(server, "listening");
    } catch (cause) {
      throw new Error(describe(cause as NodeJS.ErrnoException, { host, port }), { cause });
    }
    return new HttpServer(server, host);
  }

  /**
   * Takes no more connections, and resolves when all answers are out. What is not answered after
   * `deadlineMs` is cut off. End the event streams first: they would not end by themselves.
   */
  async close(deadlineMs: number): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    // A connection that is kept alive turns idle with its last answer, and would stay open.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_EVERY_MS);
    const cutOff = setTimeout(() => this.#server.closeAllConnections(), deadlineMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cutOff);
  }
}

function describe(
  { code, message }: NodeJS.ErrnoException,
  { host, port }: Omit<ListenOptions, "app">,
) {
  const address = `port ${port} on ${host}`;
  if (code === "EADDRINUSE")
    return `${address} is in use; stop what listens there, or take another --port`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `${host} is no address; see --host`;
  if (code === "EACCES") return `${address} needs more rights; take a --port above 1023`;
  if (code === "EADDRNOTAVAIL") return `this machine has no address ${host}; see --host`;
  return `${address} cannot be used: ${message}`;
}

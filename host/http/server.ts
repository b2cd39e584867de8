import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type Koa from "koa";
import type { ServerCertificate } from "./certificate.ts";
import type { ConnectionLimit } from "./connection-limit.ts";
import type { RequestState } from "./route.ts";
import { createTlsServer } from "./tls-server.ts";

/** A head may take ten seconds and a request twenty, whatever trickles in. */
const BOUNDS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 2 ** 10,
};
const MAX_CONNECTIONS = 4_096;
const SWEEP_EVERY_MS = 20;
/** Addresses to listen on, and not to connect to: where this machine itself finds them. */
const WILDCARDS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

export interface ListenOptions {
  readonly app: Koa<RequestState>;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** With it, HTTPS is spoken, and plain HTTP is only told so. */
  readonly certificate?: ServerCertificate | undefined;
  /** Absent means that a client may take all the connections there are. */
  readonly limit?: ConnectionLimit;
}

/** Listens for requests, within bounds on how slowly and how largely they may come. */
export class HttpServer {
  readonly #server: Server | TlsServer;
  readonly #sockets = new Set<Socket>();
  /** Where it answers, such as `http://127.0.0.1:8470`. */
  readonly url: string;

  private constructor(server: Server | TlsServer, { host, certificate, limit }: ListenOptions) {
    const { port } = server.address() as AddressInfo;
    this.#server = server;
    server.on("connection", (socket: Socket) => {
      limit?.admit(socket);
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    const reached = WILDCARDS[host] ?? host;
    this.url = `http${certificate ? "s" : ""}://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
  }

  /** @throws Error with a sentence for people when the address cannot be had */
  static async listen(options: ListenOptions): Promise<HttpServer> {
    const { host, port } = options;
    const server = create(options);
    server.maxConnections = MAX_CONNECTIONS;
    server.listen(port, host);
    try {
      await once(server, "listening");
    } catch (cause) {
      throw new Error(describe(cause as NodeJS.ErrnoException, { host, port }), { cause });
    }
    return new HttpServer(server, options);
  }

  /**
   * Takes no more connections, and resolves when all answers are out. What is not answered after
   * `deadlineMs` is cut off. End the event streams first: they would not end by themselves.
   */
  async close(deadlineMs: number): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    const sweep = setInterval(() => this.#closeIdle(), SWEEP_EVERY_MS);
    const cutOff = setTimeout(() => this.#sockets.forEach((each) => each.destroy()), deadlineMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cutOff);
  }

  /** A connection that is kept alive turns idle with its last answer; some never ask anything. */
  #closeIdle(): void {
    this.#server.closeIdleConnections();
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}

function create({ app, certificate }: ListenOptions): Server | TlsServer {
  const answer = app.callback();
  const onRequest: RequestListener = (request, response) => void answer(request, response);
  return certificate
    ? createTlsServer(BOUNDS, certificate, onRequest)
    : createServer(BOUNDS, onRequest);
}

function describe(
  { code, message }: NodeJS.ErrnoException,
  { host, port }: Pick<ListenOptions, "host" | "port">,
) {
  const address = `port ${port} on ${host}`;
  if (code === "EADDRINUSE")
    return `${address} is in use; stop what listens there, or take another --port`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `${host} is no address; see --host`;
  if (code === "EACCES") return `${address} needs more rights; take a --port above 1023`;
  if (code === "EADDRNOTAVAIL") return `this machine has no address ${host}; see --host`;
  return `${address} cannot be used: ${message}`;
}

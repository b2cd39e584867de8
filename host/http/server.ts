import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type Koa from "koa";
import type { ServerCertificate } from "./certificate.ts";
import { answerClientError } from "./client-errors.ts";
import type { ConnectionLimit } from "./connection-limit.ts";
import { HttpResponse } from "./response.ts";
import type { RequestState } from "./route.ts";
import { createTlsServer } from "./tls-server.ts";

/** The deadlines of slow clients: ten seconds for a head, twenty for a request. */
export const BOUNDS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 2 ** 10,
};
const MAX_CONNECTIONS = 4_096;
const SWEEP_EVERY_MS = 20;
/** Wildcard addresses for listening, each with the address by which this machine reaches itself. */
const WILDCARDS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

export interface ListenOptions {
  readonly app: Koa<RequestState>;
  readonly host: string;
  /** 0 for a free port. */
  readonly port: number;
  /** With a certificate the server uses HTTPS, and answers plain HTTP only with a hint. */
  readonly certificate?: ServerCertificate | undefined;
  /** Absent means no limit for one client. */
  readonly limit?: ConnectionLimit;
  readonly bounds?: typeof BOUNDS;
}

/** Listens for requests, with limits on their size and duration. */
export class HttpServer {
  readonly #server: Server | TlsServer;
  readonly #sockets = new Set<Socket>();
  /** Its address, such as `http://127.0.0.1:8470`. */
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

  /** @throws Error with a user-facing sentence if it cannot listen on the address */
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
   * Stops accepting connections, and resolves when all answers are sent. Interrupts unfinished ones after
   * `deadlineMs`. End the event streams first: they do not end by themselves.
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

  /** Closes idle connections: kept-alive ones become idle with their last answer; some never send a request. */
  #closeIdle(): void {
    this.#server.closeIdleConnections();
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}

function create({ app, certificate, bounds = BOUNDS }: ListenOptions): Server | TlsServer {
  // The guards refuse a request without Host, with a problem document.
  const options = { ...bounds, ServerResponse: HttpResponse, requireHostHeader: false };
  const answer = app.callback();
  const onRequest = (request: IncomingMessage, response: HttpResponse) =>
    void answer(request, response);
  const server = certificate
    ? createTlsServer(options, certificate, onRequest)
    : createServer(options, onRequest);
  server.on("clientError", answerClientError);
  // A server may ignore an unknown Expect header (RFC 9110, 10.1.1); Node refuses it with an empty answer.
  server.on("checkExpectation", onRequest);
  return server;
}

function describe(
  { code, message }: NodeJS.ErrnoException,
  { host, port }: Pick<ListenOptions, "host" | "port">,
) {
  const address = `port ${port} on ${host}`;
  if (code === "EADDRINUSE")
    return `${address} is in use; stop the program that listens there, or choose another --port`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `${host} is not an address; see --host`;
  if (code === "EACCES") return `${address} needs more permissions; choose a --port above 1023`;
  if (code === "EADDRNOTAVAIL") return `this machine has no address ${host}; see --host`;
  return `${address} cannot be used: ${message}`;
}

import {
  createServer as createPlainServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer, type Server, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import type { ServerCertificate } from "./certificate.ts";
import { answerClientError } from "./client-errors.ts";
import type { HttpResponse } from "./response.ts";

type Options = ServerOptions<typeof IncomingMessage, typeof HttpResponse>;
type Listener = (request: IncomingMessage, response: HttpResponse) => void;

const FIRST_BYTE_DEADLINE_MS = 10_000;
/** The first byte of a TLS handshake (RFC 8446, 5.1). No HTTP request begins with it. */
const HANDSHAKE = 0x16;
const HINT_DEADLINE_MS = 5_000;
const AUTHORITY_PATH = "/ca.crt";
const HOST = /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i;

/**
 * An HTTPS server that renews its certificate without dropping a connection, and answers plain
 * HTTP on its port with the HTTPS address.
 */
export function createTlsServer(
  options: Options,
  certificate: ServerCertificate,
  answer: Listener,
): Server {
  const server = createServer(
    { ...options, ...certificate.pair, handshakeTimeout: FIRST_BYTE_DEADLINE_MS },
    answer,
  );
  const secured = server.listeners("connection") as ((socket: Socket) => void)[];
  const plain = createPlainServer({ requireHostHeader: false }, (request, response) =>
    hint(request, response, certificate),
  );
  plain.on("clientError", answerClientError);
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    if (certificate.renew()) server.setSecureContext(certificate.pair);
    socket.on("error", () => socket.destroy());
    const deadline = setTimeout(() => socket.destroy(), FIRST_BYTE_DEADLINE_MS).unref();
    socket.once("close", () => clearTimeout(deadline));
    socket.once("readable", () => {
      clearTimeout(deadline);
      const first = socket.read(1) as Buffer | null;
      if (!first) return void socket.destroy(); // The connection closed without sending anything.
      socket.unshift(first);
      if (first[0] === HANDSHAKE) for (const listener of secured) listener.call(server, socket);
      else takePlain(socket);
    });
  });
  return server;

  function takePlain(socket: Socket): void {
    const deadline = setTimeout(() => socket.destroy(), HINT_DEADLINE_MS).unref();
    socket.once("close", () => clearTimeout(deadline));
    plain.emit("connection", socket);
  }
}

/**
 * The answer to plain HTTP. Pages are redirected to HTTPS; a request with a token is
 * refused with an explanation, because the token was sent unencrypted. The authority's
 * certificate is public, and enables HTTPS on devices that do not have it yet.
 */
function hint(request: IncomingMessage, response: ServerResponse, tls: ServerCertificate): void {
  const { method, url = "/", headers } = request;
  response.setHeader("Connection", "close");
  response.setHeader("X-Content-Type-Options", "nosniff");
  if (url === AUTHORITY_PATH && tls.authority) {
    response.setHeader("Content-Type", "application/x-x509-ca-cert");
    response.end(tls.authority.raw);
    return;
  }
  const isPage = (method === "GET" || method === "HEAD") && headers.authorization === undefined;
  const host = headers.host ?? "";
  if (isPage && HOST.test(host) && url.startsWith("/")) {
    response.writeHead(308, { Location: `https://${host}${url}` }).end();
    return;
  }
  response.writeHead(426, { "Content-Type": "text/plain; charset=utf-8", Upgrade: "TLS/1.2" });
  response.end("This home uses https:// only. If a token was sent, revoke it.\n");
}

import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { PROBLEM_TYPE, problemDocument } from "./problem.ts";
import { BROWSER_HEADERS } from "./request-guards.ts";

const WRITE_DEADLINE_MS = 5_000;

/**
 * Answers a request that Node could not read with a problem document, and closes the connection. A listener for the
 * `clientError` event, which replaces Node's own empty answers.
 */
export function answerClientError(cause: Error, socket: Socket): void {
  const error = toMantelError(cause);
  const { _httpMessage: answer } = socket as NodeSocket;
  const { _headerSent: hasBegun = false } = answer ?? {};
  if (!error || hasBegun) return void socket.destroy();
  if (!socket.writable) return; // It is being closed; Node reports further errors until it is.
  socket.setTimeout(WRITE_DEADLINE_MS, () => socket.destroy());
  socket.end(bytesOf(error), () => socket.destroy());
}

/** A field of Node's: the answer that the socket is sending now. */
type NodeSocket = Socket & { readonly _httpMessage?: { readonly _headerSent: boolean } | null };

/** `undefined` for a connection that is reset, or whose TLS handshake failed. */
function toMantelError(cause: Error & { code?: string }): MantelError | undefined {
  const { code = "" } = cause;
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new MantelError("headers_too_large", "the request line and headers are too large", {
        cause,
      });
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new MantelError("body_too_large", "the chunk extensions are too large", { cause });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new MantelError("request_timeout", "the request did not arrive in time", { cause });
    default:
      return code.startsWith("HPE_")
        ? new MantelError("bad_request", "the request is not valid HTTP/1.1", { cause })
        : undefined;
  }
}

function bytesOf(error: MantelError): string {
  const requestId = randomUUID();
  const body = JSON.stringify(problemDocument(error, requestId));
  const headers = [
    ...["Content-Type", PROBLEM_TYPE, "Content-Length", `${Buffer.byteLength(body)}`],
    ...["Connection", "close", "Cache-Control", "no-store", "X-Request-Id", requestId],
    ...["Date", new Date().toUTCString(), ...BROWSER_HEADERS],
  ];
  const lines = headers.map((each, at) => (at % 2 === 0 ? `\r\n${each}: ` : each));
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}${lines.join("")}\r\n\r\n${body}`;
}

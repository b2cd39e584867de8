import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import { ConstantHeaders } from "./constant-headers.ts";

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * An answer with default headers, which are written with its head unless it has set headers of the same names: writing
 * all headers at once takes half as long as setting them one by one.
 */
export class HttpResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  constantHeaders = NO_HEADERS;
  requestId = "";
  cacheControl = "no-store";

  /** Writes the head; Node calls it too, for an answer that has not done so. */
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    const defaults = defaultsOf(this);
    for (let at = 0; at < defaults.length; at += 2) {
      const [name = "", value = ""] = defaults.slice(at, at + 2);
      if (!this.hasHeader(name)) this.setHeader(name, value);
    }
    return typeof reason === "string"
      ? super.writeHead(status, reason, headers)
      : super.writeHead(status, reason ?? headers);
  }

  /** Writes the head with these names and values in turns, none of which is a default. */
  writeHeadOnce(status: number, headers: readonly string[]): void {
    if (this.getHeaderNames().length === 0) {
      super.writeHead(status, [...ownDefaultsOf(this), ...headers]);
      addLines(this, this.constantHeaders.lines);
      return;
    }
    for (let at = 0; at < headers.length; at += 2)
      this.setHeader(headers[at] ?? "", headers[at + 1] ?? "");
    this.writeHead(status);
  }

  /**
   * Ends the answer with a text of Latin-1 characters. Node ends a body with an empty piece of its own, and two pieces
   * need another system call and more work than one: an answer takes a sixth less time with the text in its head.
   */
  endWithLatin1(text: string): void {
    const { _header: head, _headerSent: isSent } = nodeHeadOf(this);
    if (typeof head !== "string" || isSent !== false) {
      this.end(text, "latin1");
      return;
    }
    Object.assign(this, { _header: head + text });
    this.end();
  }
}

const NO_HEADERS = new ConstantHeaders([]);

/** Fields of Node's, from its first versions on: the head, once it is complete, and if it was written to the socket. */
interface NodeHead {
  readonly _header: string | null | undefined;
  readonly _headerSent: boolean | undefined;
}

function nodeHeadOf(response: HttpResponse): NodeHead {
  return response as unknown as NodeHead;
}

/** Adds lines to a head that is complete and not sent. Node would check each name and value of them again. */
function addLines(response: HttpResponse, lines: string): void {
  const { _header: head } = nodeHeadOf(response);
  if (typeof head !== "string" || !head.endsWith("\r\n\r\n"))
    throw new Error("this version of Node keeps the head of an answer elsewhere");
  Object.assign(response, { _header: `${head.slice(0, -2)}${lines}\r\n` });
}

function defaultsOf(response: HttpResponse): string[] {
  return [...response.constantHeaders.pairs, ...ownDefaultsOf(response)];
}

function ownDefaultsOf({ requestId, cacheControl }: HttpResponse): string[] {
  return ["X-Request-Id", requestId, "Cache-Control", cacheControl];
}

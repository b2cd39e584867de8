import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { MantelError, readMotionJpeg } from "@mantel/plugin-sdk";
import { type Address, restUrl } from "./options.ts";
import { awayReason } from "./socket.ts";

/** An answer of the REST API with status 200. */
export interface RestAnswer {
  /** The media type, without parameters. */
  readonly type: string;
  readonly body: Buffer;
}

export interface RestRequest {
  /** Below `/api/`, with its query. */
  readonly path: string;
  readonly maxBytes: number;
  readonly deadlineMs: number;
  /** A noun phrase for errors, such as `the picture of camera.yard`. */
  readonly what: string;
}

/**
 * Reads from Home Assistant's REST API.
 * @throws MantelError `bridge_down`, with a user-facing reason; `deadline_passed`
 */
export async function readRest(
  address: Address,
  request: RestRequest,
  stopped: AbortSignal,
): Promise<RestAnswer> {
  const late = AbortSignal.timeout(request.deadlineMs);
  try {
    const answer = await send(address, request.path, AbortSignal.any([late, stopped]));
    const body = await readBody(answer, request.maxBytes);
    requireSuccess(answer);
    return {
      type: answer.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "",
      body,
    };
  } catch (error) {
    throw failure(address, request, { error, isLate: late.aborted });
  }
}

/**
 * Reads motion JPEG from Home Assistant's REST API, until `stopped`. The deadline is that of the beginning.
 * @throws MantelError as `readRest`
 */
export async function* readRestFrames(
  address: Address,
  request: RestRequest,
  stopped: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), request.deadlineMs);
  try {
    const answer = await send(address, request.path, AbortSignal.any([late.signal, stopped]));
    clearTimeout(timer);
    requireSuccess(answer);
    const { "content-type": contentType = "" } = answer.headers;
    yield* readMotionJpeg(answer, { contentType, maxBytes: request.maxBytes });
  } catch (error) {
    throw failure(address, request, { error, isLate: late.signal.aborted });
  } finally {
    clearTimeout(timer);
  }
}

function requireSuccess({ statusCode = 0 }: IncomingMessage): void {
  if (statusCode !== 200) throw new Error(`it answers ${statusCode}`);
}

function failure(
  { url }: Address,
  { what, deadlineMs }: RestRequest,
  { error, isLate }: { error: unknown; isLate: boolean },
): MantelError {
  if (isLate) return new MantelError("deadline_passed", `${what} timed out after ${deadlineMs} ms`);
  const reason = awayReason(error as NodeJS.ErrnoException, url);
  return new MantelError("bridge_down", `could not read ${what}: ${reason}`, { cause: error });
}

function send({ url, token, ca }: Address, path: string, signal: AbortSignal) {
  const target = restUrl(url, path);
  const request = target.protocol === "https:" ? requestHttps : requestHttp;
  const headers = { authorization: `Bearer ${token}` };
  return new Promise<IncomingMessage>((resolve, reject) => {
    const options = { headers, signal, agent: false as const, ...(ca === undefined ? {} : { ca }) };
    request(target, options, resolve).on("error", reject).end();
  });
}

async function readBody(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      answer.destroy();
      throw new Error(`it answers with more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

import { once } from "node:events";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { MantelError } from "@mantel/plugin-sdk";
import { pinAddresses, type PinnedAddress } from "./address.ts";

/** Where a calendar is, and what was learned when it was read before. */
export interface DownloadRequest {
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly allowPrivate?: boolean | undefined;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  readonly signal: AbortSignal;
}

export interface Download {
  /** `undefined` when nothing has changed since `etag` or `lastModified`. */
  readonly bytes: Uint8Array | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** A calendar may have this many bytes, and after decompression too. */
export const MAX_BYTES = 10_000_000;
const MAX_REDIRECTS = 5;
const DEADLINE_MS = 15_000;
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * Reads a calendar over HTTP, with one conditional request when it has not changed. Each hop of a
 * redirect is looked up, checked and bound to its address; the password goes to the first origin alone.
 *
 * @throws MantelError `invalid` or `deadline_passed`, in words that never hold the address's path
 */
export async function download(request: DownloadRequest): Promise<Download> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const signal = AbortSignal.any([request.signal, deadline]);
  try {
    return await attempt(request, signal);
  } catch (error) {
    if (deadline.aborted) {
      throw new MantelError("deadline_passed", `no answer within ${DEADLINE_MS / 1000} seconds`);
    }
    if (error instanceof MantelError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? "no details";
    throw new MantelError("invalid", `the server cannot be reached (${code})`, { cause: error });
  }
}

/** `webcal://`, which names no protocol, is tried as HTTPS and, without a password, as HTTP. */
async function attempt(request: DownloadRequest, signal: AbortSignal): Promise<Download> {
  const [, rest] = /^webcals?:(.*)$/i.exec(request.url.trim()) ?? [];
  if (rest === undefined) return follow(request, signal);
  try {
    return await follow({ ...request, url: `https:${rest}` }, signal);
  } catch (error) {
    if (error instanceof MantelError || request.password !== undefined) throw error;
    return follow({ ...request, url: `http:${rest}` }, signal);
  }
}

async function follow(request: DownloadRequest, signal: AbortSignal): Promise<Download> {
  const first = parseAddress(request.url);
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await get(url, request, { own: url.origin === first.origin, signal });
    const target = response.headers.location;
    if (!REDIRECTS.includes(response.statusCode ?? 0) || target === undefined) {
      return take(response, signal);
    }
    response.destroy();
    url = parseAddress(target, url);
  }
  throw new MantelError("invalid", `the server redirects more than ${MAX_REDIRECTS} times`);
}

function parseAddress(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (url && ["http:", "https:"].includes(url.protocol)) return url;
  throw new MantelError("invalid", "the address must begin with https://, http:// or webcal://");
}

async function get(
  url: URL,
  request: DownloadRequest,
  { own, signal }: { own: boolean; signal: AbortSignal },
): Promise<IncomingMessage> {
  const pinned = await pinAddresses(url, request.allowPrivate ?? false);
  signal.throwIfAborted();
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const sent = send(url, {
    agent: false,
    lookup: pinnedLookup(pinned),
    signal,
    headers: {
      accept: "text/calendar, */*;q=0.1",
      "accept-encoding": "gzip",
      "user-agent": "Mantel",
      ...(own ? ownHeaders(request) : {}),
    },
  });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  sent.on("error", () => {}); // from here on, whoever reads the response is told
  return response;
}

/** Answers a connection's look-up with the addresses that were checked. */
function pinnedLookup(addresses: readonly PinnedAddress[]) {
  return (
    _host: string,
    options: { all?: boolean | undefined },
    answer: (error: null, address: string | PinnedAddress[], family?: number) => void,
  ): void => {
    const [first] = addresses;
    if (options.all || !first) answer(null, [...addresses]);
    else answer(null, first.address, first.family);
  };
}

function ownHeaders({ url, username, password, etag, lastModified }: DownloadRequest) {
  const address = new URL(url);
  const user = username ?? decodeURIComponent(address.username);
  const secret = password ?? decodeURIComponent(address.password);
  const basic = Buffer.from(`${user}:${secret}`).toString("base64");
  return {
    ...(user === "" ? {} : { authorization: `Basic ${basic}` }),
    ...(etag === undefined ? {} : { "if-none-match": etag }),
    ...(lastModified === undefined ? {} : { "if-modified-since": lastModified }),
  };
}

async function take(response: IncomingMessage, signal: AbortSignal): Promise<Download> {
  const { etag, "last-modified": lastModified } = response.headers;
  try {
    if (response.statusCode === 304) return { bytes: undefined, etag, lastModified };
    if (response.statusCode !== 200) throw refusal(response.statusCode ?? 0);
    return { bytes: await read(response, signal), etag, lastModified };
  } finally {
    response.destroy();
  }
}

function refusal(status: number): MantelError {
  const reasons: Record<number, string> = {
    401: "the server wants another user name or password (401)",
    403: "the server refuses access (403)",
    404: "there is no calendar at this address (404)",
    410: "the calendar is gone (410)",
    429: "the server is asked too often (429)",
  };
  return new MantelError("invalid", reasons[status] ?? `the server answered with status ${status}`);
}

async function read(response: IncomingMessage, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const collect = async (body: AsyncIterable<Uint8Array>) => {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > MAX_BYTES) {
        throw new MantelError("invalid", `the calendar is larger than ${MAX_BYTES / 1e6} MB`);
      }
      chunks.push(chunk);
    }
  };
  const gzip = /^(x-)?gzip$/i.test(response.headers["content-encoding"] ?? "");
  if (gzip) await pipeline(response, createGunzip(), collect, { signal });
  else await pipeline(response, collect, { signal });
  return Buffer.concat(chunks);
}

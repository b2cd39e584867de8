import { once } from "node:events";
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  type RequestOptions,
} from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { MantelError, sentence } from "@mantel/plugin-sdk";
import { pinAddresses, type PinnedAddress } from "./address.ts";
import {
  type CertificateTrust,
  fingerprintOf,
  trustedConnection,
  UntrustedCertificate,
} from "./certificate.ts";
import { hasUnknownSigner, unknownSigner, unreachable } from "./fetch-error.ts";

export interface GuardedRequest {
  readonly url: string;
  /** Absent means GET. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Headers, such as a password, sent only to addresses for which `trusts` returns true. */
  readonly secretHeaders?: Readonly<Record<string, string>> | undefined;
  readonly trusts: (url: URL) => boolean;
  readonly body?: string | Uint8Array | undefined;
  readonly allowPrivate?: boolean | undefined;
  /** The certificate to accept besides those of known authorities. */
  readonly trust?: CertificateTrust | undefined;
  readonly limits?: TransferLimits | undefined;
  /** Called as the body arrives. `total` is null if the server does not tell. */
  readonly onProgress?: ((done: number, total: number | null) => void) | undefined;
  /** False returns a redirect as the answer. By default redirects are followed. */
  readonly follow?: boolean | undefined;
  /** True returns the body of a refusal as well, which may name the reason. */
  readonly readsRefusal?: boolean | undefined;
  readonly signal: AbortSignal;
}

export interface GuardedAnswer {
  /** The final address, after redirects. */
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed. Empty unless the status is 2xx, or bodies of refusals are read. */
  readonly body: Uint8Array;
}

export interface TransferLimits {
  /** Maximum time without a byte. */
  readonly idleMs: number;
  /** Maximum time in all. */
  readonly totalMs: number;
}

/** Maximum bytes of a calendar, before and after decompression. */
export const MAX_BYTES = 10_000_000;
const MAX_REDIRECTS = 5;
/** Maximum time without a byte. */
export const IDLE_MS = 15_000;
const LIMITS: TransferLimits = { idleMs: IDLE_MS, totalMs: 300_000 };
const REDIRECTS = [301, 302, 303, 307, 308];

const OTHER_PROTOCOL = sentence(
  "other_protocol",
  "the address must begin with https://, http:// or webcal://",
);
const CUT = sentence(
  "packed_answer_cut",
  "the server's answer ends in the middle ({code}): if this stays, switch compression off at the server",
);
const NO_GZIP = sentence(
  "no_gzip",
  "the server's answer is not gzip, although its header says so ({code}): if this stays, switch compression off at the server",
);

/**
 * One HTTP request to an untrusted server. Each redirect is looked up, checked and bound to its
 * address; time, size and redirects are limited.
 * @throws MantelError `invalid` or `deadline_passed`; its message never contains the path of the
 * address
 */
export async function guardedRequest(request: GuardedRequest): Promise<GuardedAnswer> {
  const { idleMs, totalMs } = request.limits ?? LIMITS;
  const total = AbortSignal.timeout(totalMs);
  const idle = new AbortController();
  const idleTimer = setTimeout(() => idle.abort(), idleMs);
  const signal = AbortSignal.any([request.signal, total, idle.signal]);
  const onProgress = (done: number, size: number | null) => {
    idleTimer.refresh();
    request.onProgress?.(done, size);
  };
  try {
    return await follow({ ...request, signal, onProgress });
  } catch (error) {
    if (idle.signal.aborted) throw silent(idleMs);
    if (total.aborted) throw tooLong(totalMs);
    if (error instanceof MantelError) throw error;
    throw unreachable(error as NodeJS.ErrnoException);
  } finally {
    clearTimeout(idleTimer);
  }
}

function silent(idleMs: number): MantelError {
  const values = { seconds: idleMs / 1000 };
  return new MantelError(
    "deadline_passed",
    sentence("no_answer", "no answer within {seconds} seconds", values),
  );
}

function tooLong(totalMs: number): MantelError {
  const values = { seconds: totalMs / 1000 };
  return new MantelError(
    "deadline_passed",
    sentence(
      "too_slow",
      "the transfer takes longer than {seconds} seconds: raise transferSeconds",
      values,
    ),
  );
}

async function follow(request: GuardedRequest): Promise<GuardedAnswer> {
  let url = parseAddress(request.url);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await send(url, request);
    try {
      const status = response.statusCode ?? 0;
      const target = response.headers.location;
      const moved = REDIRECTS.includes(status) && target !== undefined;
      if (!moved || request.follow === false) {
        if (status === 401) refuseUntrustedHost(url, request);
        const body = await bodyOf(response, status, request);
        return { url, status, headers: response.headers, body };
      }
      url = parseAddress(target, url);
    } finally {
      response.destroy();
    }
  }
  const values = { most: MAX_REDIRECTS };
  throw new MantelError(
    "invalid",
    sentence("too_many_redirects", "the server redirects more than {most} times", values),
  );
}

async function bodyOf(
  response: IncomingMessage,
  status: number,
  request: GuardedRequest,
): Promise<Uint8Array> {
  const nothing = new Uint8Array();
  if (status >= 200 && status < 300) return read(response, request);
  // the status says enough if this fails
  return request.readsRefusal ? read(response, request).catch(() => nothing) : nothing;
}

/** @throws MantelError `invalid` if a server asks for the password that is withheld from it */
function refuseUntrustedHost(url: URL, { trusts, secretHeaders = {} }: GuardedRequest): void {
  if (trusts(url) || Object.keys(secretHeaders).length === 0) return;
  const told = sentence(
    "sent_elsewhere",
    "the server sends on to {origin}, which asks for a password (401) and is not given that of another server: give the address there itself",
    { origin: url.origin.slice(0, 200) },
  );
  throw new MantelError("invalid", told);
}

function parseAddress(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
  if (url && ["http:", "https:"].includes(url.protocol)) return url;
  throw new MantelError("invalid", OTHER_PROTOCOL);
}

async function send(url: URL, request: GuardedRequest): Promise<IncomingMessage> {
  const pinned = await pinAddresses(url, request.allowPrivate ?? false);
  request.signal.throwIfAborted();
  const lookup = pinnedLookup(pinned);
  const isSecure = url.protocol === "https:";
  const options: RequestOptions = {
    agent: false,
    auth: "", // the caller sends a name and password from the address
    lookup,
    signal: request.signal,
    ...(isSecure ? await trustedConnection(url, lookup, request) : {}),
    method: request.method ?? "GET",
    headers: {
      "accept-encoding": "gzip",
      "user-agent": "Mantel",
      ...request.headers,
      ...(request.body === undefined
        ? {}
        : { "content-length": String(Buffer.byteLength(request.body)) }),
      ...(request.trusts(url) ? request.secretHeaders : {}),
    },
  };
  const sent = (isSecure ? requestHttps : requestHttp)(url, options);
  sent.end(request.body);
  const [response] = (await once(sent, "response").catch(async (error: NodeJS.ErrnoException) => {
    if (!hasUnknownSigner(error)) throw error;
    const found = await fingerprintOf(url, lookup, request.signal);
    if (found === undefined) throw error;
    throw new UntrustedCertificate(unknownSigner(error, found), found);
  })) as [IncomingMessage];
  sent.on("error", () => {}); // from here on, errors reach the reader of the response
  return response;
}

/** Answers the DNS look-up of a connection with the checked addresses. */
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

async function read(
  response: IncomingMessage,
  { signal, onProgress }: GuardedRequest,
): Promise<Uint8Array> {
  const expected = Number(response.headers["content-length"] ?? NaN);
  let received = 0;
  response.on("data", (chunk: Uint8Array) => {
    received += chunk.length;
    onProgress?.(received, Number.isNaN(expected) ? null : expected);
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  const collect = async (body: AsyncIterable<Uint8Array>) => {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > MAX_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  };
  const gzip = isGzip(response.headers["content-encoding"]);
  try {
    if (gzip) await pipeline(response, createGunzip(), collect, { signal });
    else await pipeline(response, collect, { signal });
  } catch (error) {
    if (size > MAX_BYTES) throw tooLarge(); // the cause for closing the other streams may arrive first
    throw badGzip(error) ?? error;
  }
  return Buffer.concat(chunks);
}

/** @throws MantelError `invalid` for an encoding that was not requested */
function isGzip(encoding = "identity"): boolean {
  if (/^(x-)?gzip$/i.test(encoding)) return true;
  if (/^(identity)?$/i.test(encoding)) return false;
  const told = sentence(
    "other_encoding",
    'the server packs its answer as "{encoding}", but only gzip was asked for: switch that off at the server',
    { encoding: encoding.slice(0, 20) },
  );
  throw new MantelError("invalid", told);
}

/** Not a network error, so it has no `cause`. */
function badGzip(error: unknown): MantelError | undefined {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!code.startsWith("Z_")) return undefined;
  return new MantelError("invalid", {
    ...(code === "Z_BUF_ERROR" ? CUT : NO_GZIP),
    values: { code },
  });
}

function tooLarge(): MantelError {
  const values = { most: MAX_BYTES / 1e6 };
  return new MantelError(
    "invalid",
    sentence(
      "too_large_to_read",
      "the calendar is larger than {most} MB: subscribe to a smaller part of it",
      values,
    ),
  );
}

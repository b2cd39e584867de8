import { MantelError } from "@mantel/plugin-sdk";
import { transferMs } from "../options.ts";
import { inUtf8 } from "./charset.ts";
import { basicAuth, type Credentials, isSameHost } from "./credentials.ts";
import { fetchError } from "./fetch-error.ts";
import { guardedRequest, IDLE_MS } from "./guarded-request.ts";

/** The address of a calendar, and the validators of the last download. */
export interface DownloadRequest extends Credentials {
  readonly url: string;
  readonly allowPrivate?: boolean | undefined;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  readonly fingerprint?: string | undefined;
  readonly authorityFile?: string | undefined;
  readonly transferSeconds?: number | undefined;
  readonly onProgress?: ((done: number, total: number | null) => void) | undefined;
  readonly signal: AbortSignal;
}

export interface Download {
  /** `undefined` if unchanged since `etag` or `lastModified`. */
  readonly bytes: Uint8Array | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/**
 * Reads a calendar over HTTP, with one conditional request when it has not changed. `webcal://`, which
 * names no protocol, is tried as HTTPS and, without a password, as HTTP; `webcals://` is HTTPS alone.
 *
 * @throws MantelError `invalid` or `deadline_passed`, in words that never hold the address's path, with
 *   `retryAfterMs` where the server wants to be left alone
 */
export async function download(request: DownloadRequest): Promise<Download> {
  const [, secure, rest] = /^webcal(s?):(.*)$/i.exec(request.url.trim()) ?? [];
  if (rest === undefined) return get(request);
  try {
    return await get({ ...request, url: `https:${rest}` });
  } catch (error) {
    const needsHttps = secure !== "" || basicAuth(request).authorization !== undefined;
    if (needsHttps || !isUnreachable(error)) throw error;
    return get({ ...request, url: `http:${rest}` });
  }
}

/** True if no server answered, for example because none supports HTTPS. */
function isUnreachable(error: unknown): boolean {
  return error instanceof MantelError && error.cause !== undefined && error.code === "invalid";
}

async function get(request: DownloadRequest): Promise<Download> {
  const first = URL.canParse(request.url) ? new URL(request.url) : undefined;
  const { status, headers, body } = await guardedRequest({
    ...request,
    headers: { accept: "text/calendar, text/vcard;q=0.9, */*;q=0.1", ...conditions(request) },
    secretHeaders: basicAuth(request),
    trust: { fingerprint: request.fingerprint, authorityFile: request.authorityFile },
    limits: { idleMs: IDLE_MS, totalMs: transferMs(request) },
    trusts: (url) => first !== undefined && isSameHost(first, url),
  });
  const { etag, "last-modified": lastModified } = headers;
  const isConditional = request.etag !== undefined || request.lastModified !== undefined;
  if (status === 304 && isConditional) return { bytes: undefined, etag, lastModified };
  if (status !== 200) throw fetchError(status, headers);
  return { bytes: inUtf8(body, headers["content-type"]), etag, lastModified };
}

function conditions({ etag, lastModified }: DownloadRequest): Record<string, string> {
  return {
    ...(etag === undefined ? {} : { "if-none-match": etag }),
    ...(lastModified === undefined ? {} : { "if-modified-since": lastModified }),
  };
}

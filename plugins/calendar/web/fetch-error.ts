import type { IncomingHttpHeaders } from "node:http";
import { MantelError, sentence, type Sentence } from "@mantel/plugin-sdk";

const HOUR_MS = 3_600_000;
const LONGEST_WAIT_MS = 24 * HOUR_MS;

const REASONS: Readonly<Record<number, Sentence>> = {
  401: sentence(
    "wrong_password",
    "the server does not accept the user name and password (401): set them again; some providers want an app password",
  ),
  403: sentence(
    "no_access",
    "the server refuses access (403): let its owner share the calendar, or copy the address again",
  ),
  404: sentence("no_calendar_there", "this address has no calendar (404): copy the address again"),
  410: sentence("gone", "the calendar is gone (410): remove it here, or copy its new address"),
  429: sentence("too_often", "the server is asked too often (429): raise refreshSeconds"),
};
/**
 * Wrong credentials stay wrong until the user corrects them, and a server may lock the account
 * after repeated attempts.
 */
const LASTING = new Set([401, 403, 410]);

/** The error for a status code, with a fix and the time until the next attempt. */
export function fetchError(status: number, headers: IncomingHttpHeaders): MantelError {
  const retryMs = retryAfterMs(headers);
  const wait = LASTING.has(status) ? Math.max(HOUR_MS, retryMs ?? 0) : retryMs;
  return new MantelError(
    "invalid",
    otherScheme(status, headers) ?? REASONS[status] ?? answeredWith(status),
    wait === undefined ? {} : { retryAfterMs: wait },
  );
}

/** The pause for a server that is asked too often and does not say how long to wait. */
const RATE_PAUSE_MS = 60_000;

/** The error for a refusal by which Google means that it is asked too often (403, "Handle API errors"). */
export function rateError(
  status: number,
  headers: IncomingHttpHeaders,
  body: Uint8Array,
): MantelError | undefined {
  const text = Buffer.from(body.subarray(0, 10_000)).toString("latin1");
  if (status !== 403 || !/\b(userR|r)ateLimitExceeded\b|\bquotaExceeded\b/.test(text))
    return undefined;
  const wait = retryAfterMs(headers) ?? RATE_PAUSE_MS;
  return new MantelError("rate_limited", TOO_OFTEN_NOW, { retryAfterMs: wait });
}

export const TOO_OFTEN_NOW = sentence(
  "too_often_now",
  "the server is asked too often: try again later",
);

/** A status that tells nothing more. */
export function answeredWith(status: number): Sentence {
  return sentence("status", "the server answered with status {status}", { status });
}

const UNKNOWN_SIGNER = sentence(
  "unknown_signer",
  "the server's certificate ({code}) is not signed by a known authority: set caFile to the certificate of its authority, or fingerprint to that of this certificate",
);

/** Certificate errors by Node's error code. */
const CERTIFICATE_FAULTS: Readonly<Record<string, Sentence>> = {
  CERT_HAS_EXPIRED: sentence(
    "certificate_expired",
    "the server's certificate ({code}) has expired: renew it there, unless the clock here is wrong",
  ),
  CERT_NOT_YET_VALID: sentence(
    "certificate_early",
    "the server's certificate ({code}) is not valid yet: set the clock there or here",
  ),
  ERR_TLS_CERT_ALTNAME_INVALID: sentence(
    "certificate_of_other",
    "the server's certificate ({code}) is for another name: use that name in the address",
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_SIGNER,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_SIGNER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_SIGNER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_SIGNER,
};

/** True if a connection failed because no known authority has signed the certificate. */
export function hasUnknownSigner({ code = "" }: NodeJS.ErrnoException): boolean {
  return CERTIFICATE_FAULTS[code] === UNKNOWN_SIGNER;
}

const UNREACHABLE = sentence("unreachable", "the server cannot be reached ({code})");

/** The reason if no known authority has signed a certificate with this fingerprint. */
export function unknownSigner({ code = "" }: NodeJS.ErrnoException, fingerprint: string): Sentence {
  return sentence(
    "unknown_signer",
    "the server's certificate ({code}) is not signed by a known authority: set caFile to the certificate of its authority, or fingerprint to that of this certificate: {fingerprint}",
    { code, fingerprint },
  );
}

/** The error for a server without any answer. */
export function unreachable(cause: NodeJS.ErrnoException): MantelError {
  const { code = "no details" } = cause;
  const fault = CERTIFICATE_FAULTS[code] ?? UNREACHABLE;
  return new MantelError("invalid", { ...fault, values: { code } }, { cause });
}

/**
 * For a server without Basic authentication, such as Baïkal, which uses only Digest by default: no
 * password would work.
 */
function otherScheme(status: number, headers: IncomingHttpHeaders): Sentence | undefined {
  const challenge = status === 401 ? (headers["www-authenticate"] ?? "") : "";
  const [scheme] = /^[\w-]{1,20}/.exec(challenge.trim()) ?? [];
  if (scheme === undefined || /\bbasic\b/i.test(challenge)) return undefined;
  return sentence(
    "other_sign_in",
    "the server asks for a password by {scheme} (401), and is given it by Basic alone: switch Basic on there",
    { scheme },
  );
}

/**
 * The delay requested by a server (RFC 9110, 10.2.3), at most a day. A point in time is compared
 * with the server's own clock, because the clock of this machine may be wrong.
 */
export function retryAfterMs(headers: IncomingHttpHeaders): number | undefined {
  const text = headers["retry-after"]?.trim() ?? "";
  const wait = /^\d{1,9}$/.test(text)
    ? Number(text) * 1000
    : Date.parse(text) - (Date.parse(headers.date ?? "") || Date.now());
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), LONGEST_WAIT_MS);
}

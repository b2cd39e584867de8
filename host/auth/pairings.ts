import { createHash, randomBytes, randomInt } from "node:crypto";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { FairShare } from "@mantel/plugin-sdk/fair-share";
import type { Scope } from "./scopes.ts";

/** Consonants that are not easily confused and form no words (RFC 8628, 6.1): 20⁸ codes. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const HALF = 4;
const LIFETIME_MS = 10 * 60 * 1000;
const INTERVAL_MS = 5_000;
/** A display may ask this much too early, because of its timer or the network. */
const LENIENCE_MS = 500;
const SLOWER_BY_MS = 5_000;
const MAX_PAIRINGS = 64;
const MAX_OF_A_NETWORK = 8;
/** The codes that a network may request per minute. */
const STARTS_A_MINUTE = 16;
const MINUTE_MS = 60_000;
/** The networks whose codes are counted at the same time. */
const COUNTED_NETWORKS = 4_096;
/** The time for a decision after a user has looked at a waiting display. */
const DECISION_MS = 2 * MINUTE_MS;

/** The pattern of a user code; the hyphen is optional, and letters may be lower case. */
export const USER_CODE = `^[${LETTERS}${LETTERS.toLowerCase()}]{4}-?[${LETTERS}${LETTERS.toLowerCase()}]{4}$`;

/** The permissions that a user has granted to a display. */
export interface DisplayGrant {
  readonly name: string;
  readonly scope: readonly Scope[];
  /** Those of the user who approved it. */
  readonly readOnlyPaths?: readonly string[];
}

/** The answer to a new display. */
export interface StartedPairing {
  /** The display's secret. */
  readonly deviceCode: string;
  /** The code on its screen, such as `BDFG-HJKL`. */
  readonly userCode: string;
  readonly expiresInSeconds: number;
  /** The polling interval. */
  readonly intervalSeconds: number;
}

interface Pairing {
  readonly deviceHash: string;
  readonly userCode: string;
  readonly address: string;
  readonly network: string;
  readonly startedAt: number;
  /** Monotonic time, as `askedAt`. */
  readonly endsAt: number;
  askedAt: number;
  /** The last time that a user who may approve it looked at it. */
  lookedAt: number;
  intervalMs: number;
  decision: DisplayGrant | "denied" | undefined;
}

/**
 * Displays that wait for approval (RFC 8628). They are only in memory: after a restart of the
 * host, a display requests another code. If one network requests many, its own oldest is dropped; when
 * all places are taken, the oldest of the network with the most is dropped. Displays that are
 * being approved are not affected.
 */
export class Pairings {
  readonly #pairings = new Map<string, Pairing>();
  readonly #places = new FairShare<Pairing>({ most: MAX_PAIRINGS, mostOfOne: MAX_OF_A_NETWORK });
  readonly #starts = new Map<string, { readonly since: number; count: number }>();
  readonly #clock: () => number;

  /** `clock` returns milliseconds and never jumps. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** @throws MantelError `rate_limited` while too many displays wait */
  start(address: string, network: string): StartedPairing {
    this.#forgetEnded();
    this.#countStart(network);
    const deviceCode = randomBytes(32).toString("base64url");
    const userCode = this.#freeCode();
    const now = this.#clock();
    this.#takePlace({
      deviceHash: hashOf(deviceCode),
      userCode,
      address,
      network,
      startedAt: Date.now(),
      endsAt: now + LIFETIME_MS,
      askedAt: Number.NEGATIVE_INFINITY,
      lookedAt: Number.NEGATIVE_INFINITY,
      intervalMs: INTERVAL_MS,
      decision: undefined,
    });
    const [expiresInSeconds, intervalSeconds] = [LIFETIME_MS / 1000, INTERVAL_MS / 1000];
    return { deviceCode, userCode, expiresInSeconds, intervalSeconds };
  }

  /**
   * A display that waits for a decision, by the code on its screen.
   * @throws MantelError `pairing_unknown`, also if it was already decided
   */
  find(userCode: string): Readonly<Pick<Pairing, "userCode" | "address" | "startedAt">> {
    const pairing = this.#waiting(userCode);
    pairing.lookedAt = this.#clock();
    return pairing;
  }

  /** @throws MantelError `pairing_unknown` */
  decide(userCode: string, decision: DisplayGrant | "denied"): void {
    this.#waiting(userCode).decision = decision;
  }

  /** True if a display was approved under this name and has not fetched its token. */
  hasGranted(name: string): boolean {
    this.#forgetEnded();
    return [...this.#pairings.values()].some(
      ({ decision }) => typeof decision === "object" && decision.name === name,
    );
  }

  /**
   * The grant of a display, once: its code is invalid then.
   * @throws MantelError `authorization_pending`, `slow_down`, `access_denied`, `expired_token`
   */
  collect(deviceCode: string): DisplayGrant {
    this.#forgetEnded();
    const hash = hashOf(deviceCode);
    const pairing = [...this.#pairings.values()].find(({ deviceHash }) => deviceHash === hash);
    if (!pairing)
      throw new MantelError("expired_token", "the code has expired; request another one");
    const { decision } = pairing;
    if (decision === undefined) throw pendingOf(pairing, this.#clock());
    this.#forget(pairing);
    if (decision !== "denied") return decision;
    throw new MantelError("access_denied", "the display was not approved");
  }

  #countStart(network: string): void {
    const now = this.#clock();
    const counted = this.#starts.get(network);
    const isCurrent = counted !== undefined && now - counted.since < MINUTE_MS;
    const start = isCurrent ? counted : { since: now, count: 0 };
    if (start.count >= STARTS_A_MINUTE) {
      const reason = `${network} requested ${STARTS_A_MINUTE} codes within a minute`;
      const retryAfterMs = start.since + MINUTE_MS - now;
      throw new MantelError("rate_limited", reason, { retryAfterMs });
    }
    start.count += 1;
    if (isCurrent) return;
    this.#starts.delete(network);
    this.#starts.set(network, start);
    const [oldest] = this.#starts.keys();
    if (oldest !== undefined && this.#starts.size > COUNTED_NETWORKS) this.#starts.delete(oldest);
  }

  #takePlace(pairing: Pairing): void {
    const { network } = pairing;
    const mayGiveWay = ({ decision, lookedAt }: Pairing) =>
      typeof decision !== "object" && this.#clock() - lookedAt > DECISION_MS;
    if (this.#places.isFull(network)) {
      const own = [...this.#pairings.values()].filter((each) => each.network === network);
      const oldest = own.find(mayGiveWay);
      if (oldest) this.#forget(oldest);
    }
    const { isGiven, replaced } = this.#places.take(network, pairing, mayGiveWay);
    if (!isGiven) {
      throw new MantelError("rate_limited", "too many displays are being paired now", {
        retryAfterMs: LIFETIME_MS / 10,
      });
    }
    if (replaced) this.#forget(replaced);
    this.#pairings.set(pairing.userCode, pairing);
  }

  #waiting(userCode: string): Pairing {
    this.#forgetEnded();
    const typed = userCode.toUpperCase().replace("-", "");
    const pairing = this.#pairings.get(`${typed.slice(0, HALF)}-${typed.slice(HALF)}`);
    if (pairing && pairing.decision === undefined) return pairing;
    throw new MantelError("pairing_unknown", `no display waits with the code ${userCode}`);
  }

  #freeCode(): string {
    for (;;) {
      const code = `${letters(HALF)}-${letters(HALF)}`;
      if (!this.#pairings.has(code)) return code;
    }
  }

  #forgetEnded(): void {
    const now = this.#clock();
    for (const each of this.#pairings.values()) if (each.endsAt <= now) this.#forget(each);
  }

  #forget(pairing: Pairing): void {
    this.#pairings.delete(pairing.userCode);
    this.#places.release(pairing.network, pairing);
  }
}

/** The error for a waiting display. Polling too often increases its interval from then on (RFC 8628, 3.5). */
function pendingOf(pairing: Pairing, now: number): MantelError {
  const isEarly = now - pairing.askedAt < pairing.intervalMs - LENIENCE_MS;
  pairing.askedAt = now;
  if (isEarly) pairing.intervalMs += SLOWER_BY_MS;
  const retryAfterMs = pairing.intervalMs;
  return isEarly
    ? new MantelError("slow_down", "the display polls too often", { retryAfterMs })
    : new MantelError("authorization_pending", "the display is not approved yet", { retryAfterMs });
}

function letters(count: number): string {
  return Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

function hashOf(deviceCode: string): string {
  return createHash("sha256").update(deviceCode).digest("base64");
}

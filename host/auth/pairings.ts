import { createHash, randomBytes, randomInt } from "node:crypto";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Scope } from "./scopes.ts";

/** Consonants that nobody confuses or spells words with (RFC 8628, 6.1): 20⁸ codes. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const HALF = 4;
const LIFETIME_MS = 10 * 60 * 1000;
const INTERVAL_MS = 5_000;
/** A display that asks a little early, because of its timer or the network, is not told off. */
const LENIENCE_MS = 500;
const SLOWER_BY_MS = 5_000;
const MAX_PAIRINGS = 64;
const MAX_OF_A_NETWORK = 8;

/** The form of a user code; people may leave out its hyphen, and write it small. */
export const USER_CODE = `^[${LETTERS}${LETTERS.toLowerCase()}]{4}-?[${LETTERS}${LETTERS.toLowerCase()}]{4}$`;

/** What a person has allowed a display. */
export interface DisplayGrant {
  readonly name: string;
  readonly scope: readonly Scope[];
}

/** What a new display is told. */
export interface StartedPairing {
  /** A secret of the display's. */
  readonly deviceCode: string;
  /** What it shows, such as `BDFG-HJKL`. */
  readonly userCode: string;
  readonly expiresInSeconds: number;
  /** How often it may ask. */
  readonly intervalSeconds: number;
}

interface Pairing {
  readonly deviceHash: string;
  readonly userCode: string;
  readonly address: string;
  readonly network: string;
  readonly startedAt: number;
  /** Of the monotonic clock, as `askedAt`. */
  readonly endsAt: number;
  askedAt: number;
  intervalMs: number;
  decision: DisplayGrant | "denied" | undefined;
}

/**
 * Displays that wait to be let in (RFC 8628). They are kept in memory alone: after a restart of the
 * host, a display asks for another code. A network that asks for many loses its own oldest first.
 */
export class Pairings {
  readonly #pairings = new Map<string, Pairing>();
  readonly #clock: () => number;

  /** `clock` gives milliseconds and never jumps. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** @throws MantelError `rate_limited` while too many displays wait */
  start(address: string, network: string): StartedPairing {
    this.#forgetEnded();
    const own = [...this.#pairings.values()].filter((each) => each.network === network);
    const [oldest] = own;
    if (oldest && own.length >= MAX_OF_A_NETWORK) this.#pairings.delete(oldest.userCode);
    if (this.#pairings.size >= MAX_PAIRINGS) {
      throw new MantelError("rate_limited", `${MAX_PAIRINGS} displays wait to be paired already`, {
        retryAfterMs: LIFETIME_MS / 10,
      });
    }
    const deviceCode = randomBytes(32).toString("base64url");
    const userCode = this.#freeCode();
    const now = this.#clock();
    this.#pairings.set(userCode, {
      ...{ deviceHash: hashOf(deviceCode), userCode, address, network },
      startedAt: Date.now(),
      endsAt: now + LIFETIME_MS,
      askedAt: Number.NEGATIVE_INFINITY,
      intervalMs: INTERVAL_MS,
      decision: undefined,
    });
    const [expiresInSeconds, intervalSeconds] = [LIFETIME_MS / 1000, INTERVAL_MS / 1000];
    return { deviceCode, userCode, expiresInSeconds, intervalSeconds };
  }

  /**
   * One that waits for a decision, by the code on its screen.
   * @throws MantelError `pairing_unknown`, also when it was decided already
   */
  find(userCode: string): Readonly<Pick<Pairing, "userCode" | "address" | "startedAt">> {
    return this.#waiting(userCode);
  }

  /** @throws MantelError `pairing_unknown` */
  decide(userCode: string, decision: DisplayGrant | "denied"): void {
    this.#waiting(userCode).decision = decision;
  }

  /** Whether a display was let in under this name and has not collected its token. */
  hasGranted(name: string): boolean {
    this.#forgetEnded();
    return [...this.#pairings.values()].some(
      ({ decision }) => typeof decision === "object" && decision.name === name,
    );
  }

  /**
   * What a display may have, once: its code is void then.
   * @throws MantelError `authorization_pending`, `slow_down`, `access_denied`, `expired_token`
   */
  collect(deviceCode: string): DisplayGrant {
    this.#forgetEnded();
    const hash = hashOf(deviceCode);
    const pairing = [...this.#pairings.values()].find(({ deviceHash }) => deviceHash === hash);
    if (!pairing) throw new MantelError("expired_token", "the code has ended; ask for another");
    const { decision } = pairing;
    if (decision === undefined) throw pendingOf(pairing, this.#clock());
    this.#pairings.delete(pairing.userCode);
    if (decision !== "denied") return decision;
    throw new MantelError("access_denied", "the display was not let in");
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
    for (const [code, { endsAt }] of this.#pairings) if (endsAt <= now) this.#pairings.delete(code);
  }
}

/** Asking too often costs a longer interval from then on (RFC 8628, 3.5). */
function pendingOf(pairing: Pairing, now: number): MantelError {
  const isEarly = now - pairing.askedAt < pairing.intervalMs - LENIENCE_MS;
  pairing.askedAt = now;
  if (isEarly) pairing.intervalMs += SLOWER_BY_MS;
  const retryAfterMs = pairing.intervalMs;
  return isEarly
    ? new MantelError("slow_down", "the display asks too often", { retryAfterMs })
    : new MantelError("authorization_pending", "nobody has let the display in", { retryAfterMs });
}

function letters(count: number): string {
  return Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

function hashOf(deviceCode: string): string {
  return createHash("sha256").update(deviceCode).digest("base64");
}

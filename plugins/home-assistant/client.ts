import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type Log, MantelError } from "@mantel/plugin-sdk";
import type { Address } from "./options.ts";
import { Session } from "./session.ts";
import { TokenRefused } from "./socket.ts";

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2_000;
/** A wrong token does not become right by itself, and Home Assistant bans addresses that keep trying. */
const REFUSED_RETRY_MS = 300_000;
/** A connection that ends sooner counts as a failed attempt. */
const STABLE_MS = 5_000;
/** A shorter interruption is not reported: Home Assistant may return immediately. */
const GRACE_MS = 2_000;
/** After this long without all entities, Home Assistant is reported as slow; waiting continues. */
const SLOW_MS = 5_000;

export interface ClientOptions {
  readonly address: Address;
  readonly log: Log;
  /** Takes over all that the other side has; the client counts as connected when it resolves. */
  readonly sync: (session: Session) => Promise<void>;
  /** Hears why Home Assistant is away, and `undefined` when it is there. */
  readonly report: (reason: string | undefined) => void;
}

/** Keeps one session with a Home Assistant, and opens another whenever it is lost. */
export class Client {
  readonly #options: ClientOptions;
  readonly #events = new EventEmitter<{ connected: [] }>().setMaxListeners(0);
  #session: Session | undefined;
  #awaySince = performance.now();
  #reported: string | undefined;
  #graceEnds: NodeJS.Timeout | undefined;
  /** True if it is unreachable for longer than the grace period. */
  #isOverdue = false;
  /** A session is there, and what it has is being taken over. */
  #isSyncing = false;
  /** The reason why the last attempt failed. */
  #lastReason = "";

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Resolves once aborted, with everything closed. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      const { lastedMs, reason, isRefused } = await this.#connectOnce(signal);
      if (signal.aborted) break;
      this.#away(reason);
      if (lastedMs > STABLE_MS) failures = 0;
      const waitMs = isRefused ? REFUSED_RETRY_MS : retryMs(failures);
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
    clearTimeout(this.#graceEnds);
  }

  /** The session, for which a caller waits a moment. @throws MantelError `bridge_down` */
  async current(): Promise<Session> {
    const graceMs = this.#awaySince + GRACE_MS - performance.now();
    if (!this.#session && graceMs > 0) {
      const signal = AbortSignal.timeout(Math.ceil(graceMs));
      await once(this.#events, "connected", { signal }).catch(() => undefined);
    }
    if (this.#session) return this.#session;
    const reason = this.#reported ?? "Home Assistant is not connected";
    throw new MantelError("bridge_down", reason, { retryAfterMs: LAST_RETRY_MS });
  }

  async #connectOnce(signal: AbortSignal): Promise<Attempt> {
    const ended = new AbortController();
    const startedAt = performance.now();
    let session: Session | undefined;
    const slow = setTimeout(() => this.#tellSlow(session?.untold), SLOW_MS);
    try {
      session = await Session.open(this.#options.address, signal);
      void session.watch(AbortSignal.any([ended.signal, signal]));
      const lost = session.lost.then((reason) => `Home Assistant went away: ${reason}`);
      this.#isSyncing = true;
      await Promise.race([this.#options.sync(session), failWith(lost)]);
      clearTimeout(slow);
      this.#connected(session);
      const reason = await lost;
      return { lastedMs: performance.now() - startedAt, reason };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { lastedMs: 0, reason, isRefused: error instanceof TokenRefused };
    } finally {
      clearTimeout(slow);
      this.#isSyncing = false;
      this.#session = undefined;
      ended.abort();
      session?.close();
    }
  }

  #connected(session: Session): void {
    this.#session = session;
    clearTimeout(this.#graceEnds);
    this.#graceEnds = undefined;
    this.#isOverdue = false;
    this.#isSyncing = false;
    this.#options.log.info("connected to Home Assistant", { version: session.version });
    this.#reported = undefined;
    this.#options.report(undefined);
    this.#events.emit("connected");
  }

  /** Says why it is away, once for each reason, and not while it may only be blinking. */
  #away(reason: string): void {
    this.#lastReason = reason;
    if (this.#isOverdue && reason !== this.#reported) this.#report(reason);
    if (this.#graceEnds) return;
    this.#awaySince = performance.now();
    this.#graceEnds = setTimeout(() => {
      this.#isOverdue = true;
      // what is being taken over now would seem to be away as soon as it is there
      if (!this.#isSyncing) this.#report(this.#lastReason);
    }, GRACE_MS);
  }

  /** Once all entities have arrived, they only have to be processed. */
  #tellSlow(untold: string | undefined): void {
    if (untold === undefined) return;
    this.#isOverdue = true;
    if (untold !== this.#reported) this.#report(untold);
  }

  #report(reason: string): void {
    this.#reported = reason;
    this.#options.log.warn("Home Assistant is away", { reason });
    this.#options.report(reason);
  }
}

interface Attempt {
  readonly lastedMs: number;
  readonly reason: string;
  readonly isRefused?: boolean;
}

async function failWith(reason: Promise<string>): Promise<never> {
  throw new MantelError("bridge_down", await reason);
}

/** Doubles from attempt to attempt; the jitter keeps several homes from returning in step. */
function retryMs(failures: number): number {
  const fullMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
  return fullMs * (0.75 + Math.random() / 4);
}

import { MantelError } from "@mantel/plugin-sdk/errors";
import { BurstyRateLimiter, RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import type { Config } from "../config/schema.ts";

/** How often a client may use up its burst again. */
const BURST_EVERY_SECONDS = 60;

type Limit = Config["server"]["rateLimit"];

/** Also as IPv6 sockets show IPv4 peers. */
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/** Bounds the requests of each client: so many every second, and a burst beyond that. */
export class RateLimit {
  readonly #limit: () => Limit;
  #applied: Limit | undefined;
  #counter: BurstyRateLimiter | undefined;

  /** `limit` is asked at each request, so that a change of the config counts at once. */
  constructor(limit: () => Limit) {
    this.#limit = limit;
  }

  /**
   * Counts one request of `client`, which is the id of its token, or its address when it has none.
   * @param address where it comes from, as the socket says
   * @throws MantelError `rate_limited`
   */
  async count(client: string, address: string): Promise<void> {
    const limit = this.#limit();
    if (!limit.loopback && LOOPBACK.test(address)) return;
    try {
      await this.#counterFor(limit).consume(client);
    } catch (error) {
      if (error instanceof Error) throw error;
      const { msBeforeNext: retryAfterMs } = error as RateLimiterRes;
      throw new MantelError("rate_limited", `more than ${limit.perSecond} requests per second`, {
        retryAfterMs,
      });
    }
  }

  #counterFor(limit: Limit): BurstyRateLimiter {
    const { perSecond, burst } = limit;
    const isSame = this.#applied?.perSecond === perSecond && this.#applied.burst === burst;
    if (this.#counter && isSame) return this.#counter;
    const duration = Math.max(1, 1 / perSecond);
    this.#applied = limit;
    this.#counter = new BurstyRateLimiter(
      new RateLimiterMemory({ points: perSecond * duration, duration }),
      new RateLimiterMemory({ points: burst, duration: BURST_EVERY_SECONDS }),
    );
    return this.#counter;
  }
}

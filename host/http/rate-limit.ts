import { MantelError } from "@mantel/plugin-sdk/errors";
import { RateBudget } from "@mantel/plugin-sdk/latest-wins";
import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import type { Config } from "../config/schema.ts";
import type { HostLog } from "../log.ts";
import { BoundedClientNames, isLoopback, clientNetwork } from "./network.ts";

/** The time after which a network may use its failures again. */
const WINDOW_SECONDS = 60;
const FAILURES = 10;
const MAX_NETWORKS = 1_024;
const MIN_SWEEP_SIZE = 2 * MAX_NETWORKS;

type Limit = Config["server"]["rateLimit"];

/**
 * Limits the requests of each client: a rate per second, and a burst, the most that pass at once. Requests with a
 * valid token count for that token only, all others for their network: clients with wrong
 * tokens can use up only the share of clients without a token, and lock nobody out.
 */
export class RateLimit {
  readonly #limit: () => Limit;
  readonly #log: HostLog;
  readonly #networks = new BoundedClientNames({
    limit: MAX_NETWORKS,
    forMs: WINDOW_SECONDS * 1000,
  });
  readonly #failures = new RateLimiterMemory({
    points: FAILURES,
    duration: WINDOW_SECONDS,
    blockDuration: WINDOW_SECONDS,
  });
  #applied: Limit | undefined;
  #budgets = new Map<string, RateBudget>();
  #sweepSize = MIN_SWEEP_SIZE;

  /** `limit` is called at each request, so that a change of the config applies at once. */
  constructor(limit: () => Limit, log: HostLog) {
    this.#limit = limit;
    this.#log = log;
  }

  /** Counts a request with the token of this id, unless it is free. @throws MantelError `rate_limited` */
  countToken(jti: string, address: string): Promise<void> | undefined {
    return this.#isFree(address) ? undefined : this.#count(`token ${jti}`);
  }

  /** Counts a request without a token, unless it is free. @throws MantelError `rate_limited` */
  countAddress(address: string): Promise<void> | undefined {
    if (this.#isFree(address)) return undefined;
    return this.#count(this.#networks.nameOf(clientNetwork(address)));
  }

  /** Counts a request with a token that was refused. @throws MantelError `rate_limited` */
  async countFailure(address: string): Promise<void> {
    if (this.#isFree(address)) return;
    await this.countAddress(address);
    try {
      await this.#failures.consume(this.#networks.nameOf(clientNetwork(address)));
    } catch (error) {
      if (error instanceof Error) throw error;
      const { consumedPoints, msBeforeNext } = error as RateLimiterRes;
      if (consumedPoints === FAILURES + 1) {
        this.#log.warn("repeated requests with invalid tokens from an address", { address });
      }
      throw new MantelError("rate_limited", "too many invalid tokens from this address", {
        retryAfterMs: msBeforeNext,
      });
    }
  }

  #isFree(address: string): boolean {
    return !this.#limit().loopback && isLoopback(address);
  }

  async #count(client: string): Promise<void> {
    const limit = this.#limit();
    const budget = this.#budgetOf(client, limit);
    const retryAfterMs = budget.waitMs(1);
    if (retryAfterMs > 0) {
      const sentence = `more than ${limit.perSecond} requests per second`;
      throw new MantelError("rate_limited", sentence, { retryAfterMs });
    }
    budget.take(1);
  }

  #budgetOf(client: string, limit: Limit): RateBudget {
    const { perSecond, burst } = limit;
    if (this.#applied?.perSecond !== perSecond || this.#applied.burst !== burst) {
      this.#applied = limit;
      this.#budgets.clear();
    }
    const budget = this.#budgets.get(client) ?? new RateBudget({ perSecond, burst });
    this.#budgets.set(client, budget);
    if (this.#budgets.size > this.#sweepSize) this.#sweep(burst);
    return budget;
  }

  /** Forgets clients with a full budget. The next sweep waits for as many new ones, so that sweeps cost little. */
  #sweep(burst: number): void {
    for (const [client, budget] of this.#budgets)
      if (budget.waitMs(burst) === 0) this.#budgets.delete(client);
    this.#sweepSize = Math.max(MIN_SWEEP_SIZE, 2 * this.#budgets.size);
  }
}

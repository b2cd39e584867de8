import dns from "node:dns/promises";
import { withDeadline } from "@mantel/plugin-sdk/deadline";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Address, NetworkFailure, RecordType } from "@mantel/plugin-sdk/protocol";
import { failureOf, lookupFailure } from "./failure.ts";

/** Node has two threads for `getaddrinfo`, which all processes share; a dead name server blocks one for long. */
const AT_ONCE = 2;
const MOST_WAITING = 64;
const PER_SECOND = 50;
const DEADLINE_MS = 15_000;

/** The DNS lookups of one process. */
export class Resolver {
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];
  #second = 0;
  #inSecond = 0;

  /** The addresses of a name from the system's resolver, in its order. */
  lookUp(host: string, family: 0 | 4 | 6): Promise<Address[] | NetworkFailure> {
    return this.#inTurn(host, () => dns.lookup(host, { all: true, family }) as Promise<Address[]>);
  }

  /** The DNS records of one type for a name. */
  records(host: string, type: RecordType, ttl: boolean): Promise<unknown[] | NetworkFailure> {
    return this.#inTurn(host, async () => {
      if (ttl && type === "A") return dns.resolve4(host, { ttl });
      if (ttl && type === "AAAA") return dns.resolve6(host, { ttl });
      return [await dns.resolve(host, type)].flat();
    });
  }

  /** Runs a lookup in turn. One that takes too long fails, and keeps its place until it has ended. */
  async #inTurn<T>(host: string, ask: () => Promise<T>): Promise<T | NetworkFailure> {
    if (!this.#isWithinRate())
      return lookupFailure(host, `more than ${PER_SECOND} lookups per second`);
    if (this.#waiting.length >= MOST_WAITING) {
      return lookupFailure(host, `${MOST_WAITING} lookups already wait`);
    }
    try {
      return await withDeadline(this.#take(ask), DEADLINE_MS, "a look-up");
    } catch (error) {
      const isLate = error instanceof MantelError;
      return isLate ? lookupFailure(host, `no answer in ${DEADLINE_MS} ms`) : failureOf(error);
    }
  }

  async #take<T>(ask: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await ask();
    } finally {
      this.#end();
    }
  }

  #isWithinRate(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) this.#inSecond = 0;
    this.#second = second;
    return ++this.#inSecond <= PER_SECOND;
  }

  #turn(): Promise<void> {
    if (this.#underWay < AT_ONCE) {
      this.#underWay++;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #end(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#underWay--;
  }
}

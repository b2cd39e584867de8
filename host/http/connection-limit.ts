import type { Socket } from "node:net";
import type { HostLog } from "../log.ts";
import { networkOf } from "./network.ts";

/** Half of what the server takes: one machine cannot keep all others out. */
const MAX_OF_ONE = 2_048;
const TELL_EVERY_MS = 60_000;

/**
 * Bounds the connections that one client holds open at the same time. Where it is exempt, as a proxy is
 * that speaks for many, nothing is counted.
 */
export class ConnectionLimit {
  readonly #isExempt: (address: string) => boolean;
  readonly #log: HostLog;
  readonly #max: number;
  readonly #open = new Map<string, number>();
  #toldAt = -Infinity;

  constructor(isExempt: (address: string) => boolean, log: HostLog, max = MAX_OF_ONE) {
    this.#isExempt = isExempt;
    this.#log = log;
    this.#max = max;
  }

  /** Ends the connection when its client has as many as it may. */
  admit(socket: Socket): void {
    const { remoteAddress: address } = socket;
    if (address === undefined || this.#isExempt(address)) return;
    const client = networkOf(address);
    const others = this.#open.get(client) ?? 0;
    if (others >= this.#max) {
      socket.destroy();
      this.#tell(address);
      return;
    }
    this.#open.set(client, others + 1);
    socket.once("close", () => this.#release(client));
  }

  #release(client: string): void {
    const left = (this.#open.get(client) ?? 0) - 1;
    if (left > 0) this.#open.set(client, left);
    else this.#open.delete(client);
  }

  #tell(address: string): void {
    if (performance.now() - this.#toldAt < TELL_EVERY_MS) return;
    this.#toldAt = performance.now();
    this.#log.warn("an address has as many connections as it may, and gets no more", { address });
  }
}

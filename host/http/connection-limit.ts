import type { Socket } from "node:net";
import type { HostLog } from "../log.ts";
import { clientNetwork } from "./network.ts";

/** Half of the server's limit, so that one machine cannot keep all others out. */
const MAX_OF_ONE = 2_048;
const TELL_EVERY_MS = 60_000;

/**
 * Limits the open connections of each client. Exempt clients, such as proxies
 * with many clients, are not counted.
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

  /** Closes the connection if its client has reached the limit. */
  admit(socket: Socket): void {
    const { remoteAddress: address } = socket;
    if (address === undefined || this.#isExempt(address)) return;
    const client = clientNetwork(address);
    const others = this.#open.get(client) ?? 0;
    if (others >= this.#max) {
      socket.destroy();
      this.#logRefusal(address);
      return;
    }
    this.#open.set(client, others + 1);
    socket.once("close", () => this.#release(client));
  }

  #release(client: string): void {
    const remaining = (this.#open.get(client) ?? 0) - 1;
    if (remaining > 0) this.#open.set(client, remaining);
    else this.#open.delete(client);
  }

  #logRefusal(address: string): void {
    if (performance.now() - this.#toldAt < TELL_EVERY_MS) return;
    this.#toldAt = performance.now();
    this.#log.warn("connection limit of an address reached; refusing its new connections", {
      address,
    });
  }
}

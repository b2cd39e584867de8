import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type Log, MantelError, type MqttPublish, withDeadline } from "@mantel/plugin-sdk";
import { type Broker, Connection } from "./connection.ts";
import { awayReason } from "./reasons.ts";

/** Answers come within this, whatever the broker does. */
const PUBLISH_DEADLINE_MS = 1_800;
/** How long a publish waits for a link that has just started, or has just lost its broker. */
const GRACE_MS = 1_000;
const ADDRESS_DEADLINE_MS = 1_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 3_000;
/** A connection that ends sooner counts as a failed attempt, so that a broker is not hammered. */
const STABLE_MS = 5_000;

export interface LinkParts {
  /** Asked before each attempt, because an address may change. */
  readonly broker: () => Promise<Broker>;
  readonly log: Log;
  /** Hears why the broker cannot be reached, and `undefined` when it can. */
  readonly report: (reason: string | undefined) => void;
}

/** Keeps one connection to a broker, and publishes through it. Nothing is queued while it is away. */
export class Link {
  readonly #parts: LinkParts;
  readonly #events = new EventEmitter<{ connected: [] }>().setMaxListeners(0);
  #connection: Connection | undefined;
  #awaySince = performance.now();
  #reason = "the link is starting";
  /** The reason that was last reported, while it holds. */
  #reported: string | undefined;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /** Connects, and connects again whenever the connection is lost. Resolves once aborted and closed. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; ; failures++) {
      const lastedMs = await this.#connectOnce(signal);
      if (signal.aborted) return;
      if (lastedMs > STABLE_MS) failures = 0;
      await delay(retryMs(failures), undefined, { signal }).catch(() => undefined);
    }
  }

  /** @throws MantelError `broker_down`, `broker_refused` */
  async publish(message: MqttPublish): Promise<void> {
    const deadlineAt = performance.now() + PUBLISH_DEADLINE_MS;
    const connection = await this.#current();
    await connection.publish(message, deadlineAt - performance.now());
  }

  async #current(): Promise<Connection> {
    const graceMs = this.#awaySince + GRACE_MS - performance.now();
    if (!this.#connection && graceMs > 0) {
      const signal = AbortSignal.timeout(Math.ceil(graceMs));
      await once(this.#events, "connected", { signal }).catch(() => undefined);
    }
    if (this.#connection) return this.#connection;
    throw new MantelError("broker_down", this.#reason, { retryAfterMs: LAST_RETRY_MS });
  }

  /** One connection from attempt to loss; gives how long it lasted, in milliseconds. */
  async #connectOnce(signal: AbortSignal): Promise<number> {
    let url: string | undefined;
    try {
      const broker = await withDeadline(
        this.#parts.broker(),
        ADDRESS_DEADLINE_MS,
        "finding the broker",
      );
      url = broker.url;
      const connection = await Connection.open(broker, signal);
      const since = performance.now();
      this.#connected(connection, new URL(url).host);
      const reason = await connection.lost;
      if (!signal.aborted) this.#lost(reason);
      return performance.now() - since;
    } catch (error) {
      if (!signal.aborted) this.#failed(awayReason(error, url));
      return 0;
    }
  }

  #connected(connection: Connection, host: string): void {
    const { log, report } = this.#parts;
    log.info("connected to the broker", { host, protocolVersion: connection.protocolVersion });
    this.#connection = connection;
    if (this.#reported !== undefined) report(undefined);
    this.#reported = undefined;
    this.#events.emit("connected");
  }

  #lost(reason: string): void {
    this.#parts.log.info("the connection to the broker was lost", { reason });
    this.#connection = undefined;
    this.#awaySince = performance.now();
    this.#reason = reason;
  }

  /** Says why there is no broker, once for each reason, and not while it may only be restarting. */
  #failed(reason: string): void {
    this.#reason = reason;
    if (reason === this.#reported || performance.now() < this.#awaySince + GRACE_MS) return;
    this.#reported = reason;
    this.#parts.report(reason);
    this.#parts.log.warn("the broker cannot be reached", { reason });
  }
}

/** Doubles from attempt to attempt; the jitter keeps several homes from returning in step. */
function retryMs(failures: number): number {
  const fullMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
  return fullMs * (0.75 + Math.random() / 4);
}

import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Log, PluginStatus } from "../context.ts";
import { withDeadline } from "../deadline.ts";
import { MantelError } from "../errors.ts";
import type { MqttBroker, MqttPublish } from "../service.ts";
import { Connection } from "./connection.ts";
import { awayReason } from "./reasons.ts";
import { Subscriptions, type OnMessage, type SubscribeOptions } from "./subscriptions.ts";

export type { OnMessage, SubscribeOptions } from "./subscriptions.ts";

/** Deadline for the broker's answer to a publish. */
const PUBLISH_DEADLINE_MS = 1_800;
/** Time that a publish waits for the connection after a start or a connection loss. */
const GRACE_MS = 1_000;
const ATTEMPTED_WITHIN_MS = 2_000;
const ADDRESS_DEADLINE_MS = 1_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 3_000;
/** A connection that ends sooner counts as a failed attempt, so that retries slow down. */
const STABLE_MS = 5_000;
/** Interval at which a connected link checks if the broker's address has changed. */
const SAME_BROKER_EVERY_MS = 10_000;

export interface MqttLinkDependencies {
  /** Returns the broker. Called before each attempt and every ten seconds, because the address may change. */
  readonly broker: () => Promise<MqttBroker>;
  readonly log: Log;
  /** Becomes degraded when the broker has been unreachable for more than a second, and ok when it is connected again. */
  readonly status: PluginStatus;
  /** Called for each new connection after the broker has answered all subscriptions. */
  readonly onConnected?: () => void;
  /** Receives a user-facing sentence about refused subscriptions, and `undefined` when the broker refuses none. */
  readonly onRefused?: (sentence: string | undefined) => void;
}

/**
 * Maintains one connection to a broker for publishing and subscribing. Nothing is queued while the broker is
 * unreachable: a publish then fails, and messages of that time are lost, except for retained ones.
 */
export class MqttLink {
  readonly #parts: MqttLinkDependencies;
  readonly #subscriptions: Subscriptions;
  readonly #events = new EventEmitter<{ connected: []; attempted: [] }>().setMaxListeners(0);
  readonly #fresh = new Set<string>();
  /** Filters that the broker refused on this connection. */
  readonly #refused = new Set<string>();
  #connection: Connection | undefined;
  /** Subscriptions that the broker has not answered yet. */
  #asked = 0;
  #awaySince = performance.now();
  #reason = "the MQTT connection is starting";
  /** The last reported reason, while it is current. */
  #reported: string | undefined;

  constructor(parts: MqttLinkDependencies) {
    this.#parts = parts;
    this.#subscriptions = new Subscriptions(parts.log);
  }

  /** Connects, and reconnects after each connection loss. Resolves when aborted and closed. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; ; failures++) {
      const lastedMs = await this.#connectOnce(signal);
      if (signal.aborted) return;
      if (lastedMs > STABLE_MS) failures = 0;
      await delay(retryMs(failures), undefined, { signal }).catch(() => undefined);
    }
  }

  /**
   * Resolves when a running link is connected, or when its first attempt has failed; at the latest after two
   * seconds. A reachable broker answers sooner, even on a busy machine.
   */
  async attempted(): Promise<void> {
    const signal = AbortSignal.timeout(ATTEMPTED_WITHIN_MS);
    await once(this.#events, "attempted", { signal }).catch(() => undefined);
  }

  /** @throws MantelError `broker_down`, `broker_refused` */
  async publish(message: MqttPublish): Promise<void> {
    const deadlineAt = performance.now() + PUBLISH_DEADLINE_MS;
    const connection = await this.#current();
    await connection.publish(message, deadlineAt - performance.now());
  }

  /**
   * Subscribes to `filter` (MQTT 5, 4.7) on this and every later connection. `onMessage` gets each matching message;
   * each new connection delivers retained messages again. Messages longer than `maxBytes` are dropped and counted in
   * the log. Returns a function that ends the subscription.
   */
  subscribe(filter: string, onMessage: OnMessage, options?: SubscribeOptions): () => void {
    const end = this.#subscriptions.add(filter, onMessage, options);
    if (this.#connection) this.#subscribeSoon(filter);
    return () => {
      if (!end()) return;
      if (this.#refused.delete(filter)) this.#tellRefused();
      else void this.#connection?.unsubscribe(filter);
    };
  }

  /** True if the broker has answered every subscription, so no message is missed from now on. */
  get isSubscribed(): boolean {
    return this.#asked === 0 && this.#fresh.size === 0;
  }

  /** Sends all filters of one turn of the event loop in one packet. A new connection subscribes to all filters. */
  #subscribeSoon(filter: string): void {
    this.#fresh.add(filter);
    if (this.#fresh.size > 1) return;
    queueMicrotask(() => {
      const [connection, filters] = [this.#connection, [...this.#fresh]];
      this.#fresh.clear();
      if (connection) void this.#subscribe(connection, filters);
    });
  }

  async #subscribe(connection: Connection, filters: readonly string[]): Promise<void> {
    this.#asked += 1;
    try {
      this.#refuse(await connection.subscribe(filters));
    } catch (error) {
      connection.giveUp((error as Error).message);
    } finally {
      this.#asked -= 1;
    }
  }

  /** Records and logs refused filters. All other subscriptions work. */
  #refuse(filters: readonly string[]): void {
    if (filters.length === 0) return;
    for (const filter of filters) this.#refused.add(filter);
    this.#tellRefused();
    const named = { filter: filters[0]?.slice(0, 200), count: filters.length };
    this.#parts.log.warn("the broker refused subscriptions", named);
  }

  #tellRefused(): void {
    const [first, ...others] = this.#refused;
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    const sentence = `the broker refused the subscription to ${first?.slice(0, 200)}${more}`;
    this.#parts.onRefused?.(first === undefined ? undefined : sentence);
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

  /** Connects once and waits until the connection is lost. Returns its duration in milliseconds. */
  async #connectOnce(signal: AbortSignal): Promise<number> {
    let url: string | undefined;
    try {
      const broker = await withDeadline(
        this.#parts.broker(),
        ADDRESS_DEADLINE_MS,
        "finding the broker",
      );
      url = broker.url;
      const receive = this.#subscriptions.receive;
      const connection = await Connection.open(broker, receive, signal);
      await this.#subscribeAll(connection);
      return await this.#hold(connection, broker, signal);
    } catch (error) {
      if (!signal.aborted) this.#failed(awayReason(error, url));
      this.#events.emit("attempted");
      return 0;
    }
  }

  async #subscribeAll(connection: Connection): Promise<void> {
    try {
      const refused = await connection.subscribe(this.#subscriptions.filters);
      if (this.#refused.size > 0 && refused.length === 0) this.#parts.onRefused?.(undefined);
      this.#refused.clear();
      this.#refuse(refused);
    } catch (error) {
      connection.giveUp((error as Error).message);
      throw error;
    }
  }

  /** Uses a connection until it is lost. Returns its duration in milliseconds. */
  async #hold(connection: Connection, broker: MqttBroker, signal: AbortSignal): Promise<number> {
    const since = performance.now();
    this.#connected(connection, new URL(broker.url).host);
    const watch = setInterval(
      () => void this.#leaveIfMoved(connection, broker),
      SAME_BROKER_EVERY_MS,
    );
    const reason = await connection.lost;
    clearInterval(watch);
    this.#connection = undefined;
    if (!signal.aborted) this.#lost(reason);
    return performance.now() - since;
  }

  async #leaveIfMoved(connection: Connection, broker: MqttBroker): Promise<void> {
    const wanted = await this.#parts.broker().catch(() => broker);
    if (!isDeepStrictEqual(wanted, broker)) connection.giveUp("the broker's address has changed");
  }

  #connected(connection: Connection, host: string): void {
    const { log, status } = this.#parts;
    log.info("connected to the broker", { host, protocolVersion: connection.protocolVersion });
    this.#connection = connection;
    if (this.#reported !== undefined) status.ok();
    this.#reported = undefined;
    this.#events.emit("connected");
    this.#parts.onConnected?.();
    this.#events.emit("attempted");
  }

  #lost(reason: string): void {
    this.#parts.log.info("lost the connection to the broker", { reason });
    this.#awaySince = performance.now();
    this.#reason = reason;
  }

  /** Reports a failed attempt, once per reason, and not within the first second, while the broker may be restarting. */
  #failed(reason: string): void {
    this.#reason = reason;
    if (reason === this.#reported || performance.now() < this.#awaySince + GRACE_MS) return;
    this.#reported = reason;
    this.#parts.status.degraded(reason);
    this.#parts.log.warn("cannot connect to the broker", { reason });
  }
}

/** The back-off, doubled after each attempt. Jitter prevents many clients from reconnecting at the same moment. */
function retryMs(failures: number): number {
  const fullMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
  return fullMs * (0.75 + Math.random() / 4);
}

import { EventEmitter, once } from "node:events";
import timers from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Log, PluginStatus } from "../context.ts";
import { withDeadline } from "../deadline.ts";
import { MantelError } from "../errors.ts";
import type { MqttBroker, MqttPublish } from "../services/mqtt.ts";
import {
  closeAtAbort,
  type Connection,
  destroy,
  send,
  subscribe,
  trackLoss,
  unsubscribe,
} from "./connection.ts";
import { connectionError, openConnection } from "./open-connection.ts";
import { Subscriptions, type OnMessage, type SubscribeOptions } from "./subscriptions.ts";

export type { OnMessage, SubscribeOptions } from "./subscriptions.ts";

const PUBLISH_DEADLINE_MS = 1_800;
/** Time that a publish waits for the connection after a start or a connection loss. */
const GRACE_MS = 1_000;
const ATTEMPTED_WITHIN_MS = 2_000;
const ADDRESS_DEADLINE_MS = 1_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 3_000;
/** A connection that ends sooner counts as a failed attempt, so that retries slow down. */
const STABLE_MS = 5_000;
/** Interval at which a connected client checks if the broker's address has changed. */
const SAME_BROKER_EVERY_MS = 10_000;

export interface MqttClientOptions {
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
 * A client that keeps one connection to a broker for publishing and subscribing. Nothing is queued while the broker is
 * unreachable: a publish then fails, and messages of that time are lost, except for retained ones.
 */
export class MqttClient {
  readonly #options: MqttClientOptions;
  readonly #subscriptions: Subscriptions;
  readonly #events = new EventEmitter<{ connected: []; attempted: [] }>().setMaxListeners(0);
  /** Filters of this turn of the event loop that are not sent yet. */
  readonly #unsent = new Set<string>();
  /** Filters that the broker refused on this connection. */
  readonly #refused = new Set<string>();
  #connection: Connection | undefined;
  /** Number of SUBSCRIBE packets that the broker has not answered yet. */
  #unanswered = 0;
  #awaySince = performance.now();
  #reason = "the MQTT connection is starting";
  /** The last reported reason, while it is current. */
  #reported: string | undefined;

  constructor(options: MqttClientOptions) {
    this.#options = options;
    this.#subscriptions = new Subscriptions(options.log);
  }

  /** Connects, and reconnects after each connection loss. Resolves when aborted and closed. */
  async run(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      const lastedMs = await this.#connectOnce(signal);
      if (lastedMs > STABLE_MS) failures = 0;
      await timers.setTimeout(retryMs(failures), undefined, { signal }).catch(() => undefined);
    }
  }

  /**
   * Resolves when a running client is connected, or when its first attempt has failed; at the latest after two
   * seconds. A reachable broker answers sooner, even on a busy machine.
   */
  async attempted(): Promise<void> {
    const signal = AbortSignal.timeout(ATTEMPTED_WITHIN_MS);
    await once(this.#events, "attempted", { signal }).catch(() => undefined);
  }

  /**
   * Publishes a message. Resolves when the broker has acknowledged it. QoS 0 has no acknowledgement, so it resolves
   * when the broker has answered a ping sent after the message. On a timeout the connection is closed, so that the
   * message cannot arrive much later, except for QoS 0 while the broker is only busy.
   *
   * @throws MantelError `broker_refused`, `broker_down`
   */
  async publish(message: MqttPublish): Promise<void> {
    const deadlineAt = performance.now() + PUBLISH_DEADLINE_MS;
    const connection = await this.#current();
    let sentAt = Number.POSITIVE_INFINITY;
    let isLate = false;
    const acknowledged = connection.slots.take().then(async () => {
      try {
        if (isLate) return;
        sentAt = performance.now();
        await send(connection, message);
      } finally {
        connection.slots.giveBack();
      }
    });
    try {
      const leftMs = Math.round(deadlineAt - performance.now());
      await withDeadline(acknowledged, leftMs, "the publish");
    } catch (error) {
      if (error instanceof MantelError && error.code !== "deadline_passed") throw error;
      isLate = true;
      // A timeout, or the client library threw and may have written half a packet.
      const { message: reason } = error as Error;
      const isBusy = message.qos === 0 && connection.pings.heardAt > sentAt;
      if (sentAt < Number.POSITIVE_INFINITY && !isBusy) destroy(connection, reason);
      throw new MantelError("broker_down", reason, { cause: error });
    }
  }

  /**
   * Subscribes to `filter` (MQTT 5, 4.7) on this and every later connection. `onMessage` gets each matching message;
   * each new connection delivers retained messages again. Messages longer than `maxBytes` are dropped and counted in
   * the log. Returns a function that ends the subscription.
   */
  subscribe(filter: string, onMessage: OnMessage, options?: SubscribeOptions): () => void {
    const remove = this.#subscriptions.add(filter, onMessage, options);
    if (this.#connection) this.#subscribeSoon(filter);
    return () => {
      if (!remove()) return;
      if (this.#refused.delete(filter)) this.#reportRefused();
      else if (this.#connection) void unsubscribe(this.#connection, filter);
    };
  }

  /** True if the broker has answered every subscription, so no message is missed from now on. */
  get isSubscribed(): boolean {
    return this.#unanswered === 0 && this.#unsent.size === 0;
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
    const { broker: findBroker } = this.#options;
    let url: string | undefined;
    try {
      const broker = await withDeadline(findBroker(), ADDRESS_DEADLINE_MS, "finding the broker");
      url = broker.url;
      const { client, accepted } = await openConnection(broker, signal);
      const connection = trackLoss(client, accepted);
      closeAtAbort(connection, signal);
      client.on("message", (topic, payload, { retain }) =>
        this.#subscriptions.receive(topic, payload, retain),
      );
      await this.#subscribeAll(connection);
      return await this.#useUntilLost(connection, broker, signal);
    } catch (error) {
      if (!signal.aborted) this.#reportFailure(connectionError(error, url));
      this.#events.emit("attempted");
      return 0;
    }
  }

  async #subscribeAll(connection: Connection): Promise<void> {
    try {
      const refused = await subscribe(connection, this.#subscriptions.filters);
      if (this.#refused.size > 0 && refused.length === 0) this.#options.onRefused?.(undefined);
      this.#refused.clear();
      this.#addRefused(refused);
    } catch (error) {
      destroy(connection, (error as Error).message);
      throw error;
    }
  }

  /** Uses a connection until it is lost. Returns its duration in milliseconds. */
  async #useUntilLost(
    connection: Connection,
    broker: MqttBroker,
    signal: AbortSignal,
  ): Promise<number> {
    const since = performance.now();
    this.#reportConnected(connection, new URL(broker.url).host);
    const leaveIfMoved = () => void this.#leaveIfMoved(connection, broker);
    const watch = setInterval(leaveIfMoved, SAME_BROKER_EVERY_MS);
    const reason = await connection.lost;
    clearInterval(watch);
    this.#connection = undefined;
    if (!signal.aborted) this.#reportLoss(reason);
    return performance.now() - since;
  }

  async #leaveIfMoved(connection: Connection, broker: MqttBroker): Promise<void> {
    const wanted = await this.#options.broker().catch(() => broker);
    if (!isDeepStrictEqual(wanted, broker)) destroy(connection, "the broker's address has changed");
  }

  /** Sends all filters of one turn of the event loop in one packet. A new connection subscribes to all filters. */
  #subscribeSoon(filter: string): void {
    this.#unsent.add(filter);
    if (this.#unsent.size > 1) return;
    queueMicrotask(() => {
      const [connection, filters] = [this.#connection, [...this.#unsent]];
      this.#unsent.clear();
      if (connection) void this.#subscribeNow(connection, filters);
    });
  }

  async #subscribeNow(connection: Connection, filters: readonly string[]): Promise<void> {
    this.#unanswered += 1;
    try {
      this.#addRefused(await subscribe(connection, filters));
    } catch (error) {
      destroy(connection, (error as Error).message);
    } finally {
      this.#unanswered -= 1;
    }
  }

  /** Records and logs refused filters. All other subscriptions work. */
  #addRefused(filters: readonly string[]): void {
    if (filters.length === 0) return;
    for (const filter of filters) this.#refused.add(filter);
    this.#reportRefused();
    const named = { filter: filters[0]?.slice(0, 200), count: filters.length };
    this.#options.log.warn("the broker refused subscriptions", named);
  }

  #reportRefused(): void {
    const [first, ...others] = this.#refused;
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    const sentence = `the broker refused the subscription to ${first?.slice(0, 200)}${more}`;
    this.#options.onRefused?.(first === undefined ? undefined : sentence);
  }

  #reportConnected(connection: Connection, host: string): void {
    const { log, status } = this.#options;
    const { protocolVersion } = connection.library.options;
    log.info("connected to the broker", { host, protocolVersion });
    this.#connection = connection;
    if (this.#reported !== undefined) status.ok();
    this.#reported = undefined;
    this.#events.emit("connected");
    this.#options.onConnected?.();
    this.#events.emit("attempted");
  }

  #reportLoss(reason: string): void {
    this.#options.log.info("lost the connection to the broker", { reason });
    this.#awaySince = performance.now();
    this.#reason = reason;
  }

  /** Reports a failed attempt, once per reason, and not within the first second, while the broker may be restarting. */
  #reportFailure(reason: string): void {
    this.#reason = reason;
    if (reason === this.#reported || performance.now() < this.#awaySince + GRACE_MS) return;
    this.#reported = reason;
    this.#options.status.degraded(reason);
    this.#options.log.warn("cannot connect to the broker", { reason });
  }
}

/** The back-off, doubled after each attempt. Jitter prevents many clients from reconnecting at the same moment. */
function retryMs(failures: number): number {
  const fullMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
  return fullMs * (0.75 + Math.random() / 4);
}

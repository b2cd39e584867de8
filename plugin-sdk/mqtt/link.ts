import { EventEmitter, once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Log } from "../context.ts";
import { withDeadline } from "../deadline.ts";
import { MantelError } from "../errors.ts";
import type { MqttBroker, MqttPublish } from "../service.ts";
import { Connection } from "./connection.ts";
import { awayReason } from "./reasons.ts";
import { Subscriptions, type OnMessage, type SubscribeOptions } from "./subscriptions.ts";

export type { OnMessage, SubscribeOptions } from "./subscriptions.ts";

/** Answers come within this, whatever the broker does. */
const PUBLISH_DEADLINE_MS = 1_800;
/** How long a publish waits for a link that has just started, or has just lost its broker. */
const GRACE_MS = 1_000;
const ADDRESS_DEADLINE_MS = 1_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 3_000;
/** A connection that ends sooner counts as a failed attempt, so that a broker is not hammered. */
const STABLE_MS = 5_000;
/** How often a connected link asks whether the broker is still the one that is wanted. */
const SAME_BROKER_EVERY_MS = 10_000;

export interface MqttLinkParts {
  /** Asked before each attempt and now and then, because an address may change. */
  readonly broker: () => Promise<MqttBroker>;
  readonly log: Log;
  /**
   * Hears why the broker has been away for more than a second, in a sentence for people, and
   * `undefined` when it is back.
   */
  readonly report: (reason: string | undefined) => void;
  /** Hears of each new connection, when all subscriptions are granted that are not refused. */
  readonly onConnected?: () => void;
  /** Hears of each attempt to connect that failed. */
  readonly onFailed?: () => void;
  /** Hears, in a sentence for people, which subscriptions the broker refuses, and `undefined` when none. */
  readonly onRefused?: (sentence: string | undefined) => void;
}

/**
 * Keeps one connection to a broker, and publishes and subscribes through it. Nothing is queued while
 * it is away: a publish fails then, and messages of that time do not come, but for the retained.
 */
export class MqttLink {
  readonly #parts: MqttLinkParts;
  readonly #subscriptions: Subscriptions;
  readonly #events = new EventEmitter<{ connected: [] }>().setMaxListeners(0);
  readonly #fresh = new Set<string>();
  /** Filters that the broker has refused on this connection. */
  readonly #refused = new Set<string>();
  #connection: Connection | undefined;
  /** Subscriptions that the broker has not answered yet. */
  #asked = 0;
  #awaySince = performance.now();
  #reason = "the link is starting";
  /** The reason that was last reported, while it holds. */
  #reported: string | undefined;

  constructor(parts: MqttLinkParts) {
    this.#parts = parts;
    this.#subscriptions = new Subscriptions(parts.log);
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

  /**
   * Gives each message whose topic matches `filter` (MQTT 5, 4.7) to `onMessage`, now and on every later
   * connection, where retained ones come again. Longer ones than `maxBytes` are counted in the log and
   * left out. The function that it returns ends the subscription.
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

  /** True when the broker has answered every subscription, so that nothing more is missed. */
  get isSubscribed(): boolean {
    return this.#asked === 0 && this.#fresh.size === 0;
  }

  /** Filters of one turn of the event loop travel as one packet; a new connection asks for all. */
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

  /** What the broker refuses does not come; all else does. */
  #refuse(filters: readonly string[]): void {
    if (filters.length === 0) return;
    for (const filter of filters) this.#refused.add(filter);
    this.#tellRefused();
    const named = { filter: filters[0]?.slice(0, 200), count: filters.length };
    this.#parts.log.warn("the broker refuses subscriptions", named);
  }

  #tellRefused(): void {
    const [first, ...others] = this.#refused;
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    const sentence = `the broker refuses the subscription to ${first?.slice(0, 200)}${more}`;
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
      const receive = this.#subscriptions.receive;
      const connection = await Connection.open(broker, receive, signal);
      await this.#subscribeAll(connection);
      return await this.#hold(connection, broker, signal);
    } catch (error) {
      if (!signal.aborted) this.#failed(awayReason(error, url));
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

  /** Uses a connection until it is lost; gives how long it lasted, in milliseconds. */
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
    if (!isDeepStrictEqual(wanted, broker)) connection.giveUp("the broker is another one now");
  }

  #connected(connection: Connection, host: string): void {
    const { log, report } = this.#parts;
    log.info("connected to the broker", { host, protocolVersion: connection.protocolVersion });
    this.#connection = connection;
    if (this.#reported !== undefined) report(undefined);
    this.#reported = undefined;
    this.#events.emit("connected");
    this.#parts.onConnected?.();
  }

  #lost(reason: string): void {
    this.#parts.log.info("the connection to the broker was lost", { reason });
    this.#awaySince = performance.now();
    this.#reason = reason;
  }

  /** Says why there is no broker, once for each reason, and not while it may only be restarting. */
  #failed(reason: string): void {
    this.#reason = reason;
    this.#parts.onFailed?.();
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

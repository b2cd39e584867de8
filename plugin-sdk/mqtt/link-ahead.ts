import { setTimeout as delay } from "node:timers/promises";
import type { Static, TObject } from "typebox";
import type { PluginContext } from "../context.ts";
import { brokerOf, type brokerOptions } from "./broker.ts";
import { MqttLink } from "./link.ts";

/** A broker that is there answers sooner, also on a busy machine. */
const CONNECTED_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 10;

/** Who hears of the connection itself. */
export interface LinkOwner {
  /** There is a new connection, and all subscriptions are granted. */
  connected(): void;
  /** The broker is away, for this reason, or with `undefined` is back. */
  brokerIsAway(reason: string | undefined): void;
  /** The broker refuses subscriptions, in a sentence for people, or with `undefined` none any more. */
  brokerRefuses(sentence: string | undefined): void;
}

type Context = Pick<
  PluginContext<Static<TObject<typeof brokerOptions>>, unknown>,
  "config" | "call" | "log" | "signal" | "onDispose"
>;

/**
 * A link that a plugin's `connect` opens, ahead of its start: whoever owns it later is then told of the
 * connection as it is. The link ends with the context.
 */
export class LinkAhead {
  readonly link: MqttLink;
  readonly #ctx: Context;
  #owner: LinkOwner | undefined;
  #isConnected = false;
  #hasFailed = false;
  #awayReason: string | undefined;
  #refusal: string | undefined;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.link = new MqttLink({
      ...{ broker: brokerOf(ctx.config, ctx.call), log: ctx.log },
      report: (reason) => {
        if (reason !== undefined) this.#isConnected = false;
        this.#awayReason = reason;
        this.#owner?.brokerIsAway(reason);
      },
      onRefused: (sentence) => {
        this.#refusal = sentence;
        this.#owner?.brokerRefuses(sentence);
      },
      onConnected: () => {
        this.#isConnected = true;
        this.#owner?.connected();
      },
      onFailed: () => (this.#hasFailed = true),
    });
  }

  /**
   * Connects. True when there is a connection and its subscriptions are granted; false when the first
   * attempt fails or takes long: a broker may be away, and the link goes on trying.
   */
  async open(): Promise<boolean> {
    const { signal, onDispose } = this.#ctx;
    const running = this.link.run(signal);
    onDispose(() => running);
    await this.until(() => this.#isConnected || this.#hasFailed, CONNECTED_WITHIN_MS);
    return this.#isConnected;
  }

  /** Waits for something that the broker is about to send, and no longer than `longestMs`. */
  async until(isReady: () => boolean, longestMs: number): Promise<void> {
    const endsAt = performance.now() + longestMs;
    while (!isReady() && performance.now() < endsAt) await delay(LOOK_EVERY_MS);
  }

  /** Tells the owner of the connection from now on, and what has been until now. */
  tell(owner: LinkOwner): void {
    this.#owner = owner;
    if (this.#awayReason !== undefined) owner.brokerIsAway(this.#awayReason);
    if (this.#refusal !== undefined) owner.brokerRefuses(this.#refusal);
    if (this.#isConnected) owner.connected();
  }
}

import { setTimeout as delay } from "node:timers/promises";
import type { Static, TObject } from "typebox";
import type { PluginContext } from "../context.ts";
import { brokerOf, type brokerOptions } from "./broker.ts";
import { MqttLink } from "./link.ts";

const LOOK_EVERY_MS = 10;

/** Receives events of the connection. */
export interface LinkOwner {
  /** Called for a new connection after the broker has answered all subscriptions. */
  connected(): void;
  /** Called with a reason when the broker is unreachable, and with `undefined` when it is connected again. */
  brokerIsAway(reason: string | undefined): void;
  /** Called with a user-facing sentence when the broker refuses subscriptions, and with `undefined` when it refuses none. */
  brokerRefuses(sentence: string | undefined): void;
}

type Context = Pick<
  PluginContext<Static<TObject<typeof brokerOptions>>, unknown>,
  "config" | "call" | "log" | "signal" | "onDispose"
>;

/**
 * An MQTT link that a plugin opens in `connect`, before its start. `tell` attaches the owner later and reports the
 * current state of the connection to it. The link closes when the generation ends.
 */
export class PreconnectedClient {
  readonly link: MqttLink;
  readonly #ctx: Context;
  #owner: LinkOwner | undefined;
  #isConnected = false;
  #awayReason: string | undefined;
  #refusal: string | undefined;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.link = new MqttLink({
      broker: brokerOf(ctx.config, ctx.call),
      log: ctx.log,
      status: {
        ok: () => this.#brokerIsAway(undefined),
        degraded: (reason) => {
          this.#isConnected = false;
          this.#brokerIsAway(reason);
        },
      },
      onRefused: (sentence) => {
        this.#refusal = sentence;
        this.#owner?.brokerRefuses(sentence);
      },
      onConnected: () => {
        this.#isConnected = true;
        this.#owner?.connected();
      },
    });
  }

  /**
   * Connects. Resolves with true when connected and subscribed; with false when the first attempt fails or takes
   * long. The link keeps trying in the background.
   */
  async open(): Promise<boolean> {
    const { signal, onDispose } = this.#ctx;
    const running = this.link.run(signal);
    onDispose(() => running);
    await this.link.attempted();
    return this.#isConnected;
  }

  /** Waits until `isReady` returns true, for at most `longestMs` milliseconds. */
  async until(isReady: () => boolean, longestMs: number): Promise<void> {
    const endsAt = performance.now() + longestMs;
    while (!isReady() && performance.now() < endsAt) await delay(LOOK_EVERY_MS);
  }

  /** Attaches the owner and reports the current state of the connection to it. */
  tell(owner: LinkOwner): void {
    this.#owner = owner;
    if (this.#awayReason !== undefined) owner.brokerIsAway(this.#awayReason);
    if (this.#refusal !== undefined) owner.brokerRefuses(this.#refusal);
    if (this.#isConnected) owner.connected();
  }

  #brokerIsAway(reason: string | undefined): void {
    this.#awayReason = reason;
    this.#owner?.brokerIsAway(reason);
  }
}

import { setTimeout as delay } from "node:timers/promises";
import type { Static, TObject } from "typebox";
import type { PluginContext } from "../context.ts";
import { brokerOf, type brokerOptions } from "./broker.ts";
import { MqttClient } from "./client.ts";

const LOOK_EVERY_MS = 10;

/** Receives the events of a connection. */
export interface ConnectionListener {
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
 * An MQTT client that a plugin opens in `connect`, before its start. The plugin attaches its listener in `start`. The
 * client closes when the generation ends.
 */
export class PreconnectedClient {
  readonly client: MqttClient;
  readonly #ctx: Context;
  #listener: ConnectionListener | undefined;
  #isConnected = false;
  #awayReason: string | undefined;
  #refusal: string | undefined;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.client = new MqttClient({
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
        this.#listener?.brokerRefuses(sentence);
      },
      onConnected: () => {
        this.#isConnected = true;
        this.#listener?.connected();
      },
    });
  }

  /**
   * Connects. Resolves with true when connected and subscribed; with false when the first attempt fails or takes
   * long. The client keeps trying in the background.
   */
  async open(): Promise<boolean> {
    const { signal, onDispose } = this.#ctx;
    const running = this.client.run(signal);
    onDispose(() => running);
    await this.client.attempted();
    return this.#isConnected;
  }

  /** Waits until `isReady` returns true, for at most `longestMs` milliseconds. */
  async until(isReady: () => boolean, longestMs: number): Promise<void> {
    const endsAt = performance.now() + longestMs;
    while (!isReady() && performance.now() < endsAt) await delay(LOOK_EVERY_MS);
  }

  /** Attaches the listener and reports the current state of the connection to it. */
  attach(listener: ConnectionListener): void {
    this.#listener = listener;
    if (this.#awayReason !== undefined) listener.brokerIsAway(this.#awayReason);
    if (this.#refusal !== undefined) listener.brokerRefuses(this.#refusal);
    if (this.#isConnected) listener.connected();
  }

  #brokerIsAway(reason: string | undefined): void {
    this.#awayReason = reason;
    this.#listener?.brokerIsAway(reason);
  }
}

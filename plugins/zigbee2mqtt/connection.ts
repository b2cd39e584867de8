import { setTimeout as delay } from "node:timers/promises";
import type { PluginContext, Static, Type } from "@mantel/plugin-sdk";
import { brokerOf, type brokerOptions, MqttLink } from "@mantel/plugin-sdk/mqtt";
import { Client } from "./client.ts";
import { Health } from "./health.ts";

/** Retained lists come at once; a start does not wait longer for a broker that may be away. */
const LISTED_WITHIN_MS = 700;
const LOOK_EVERY_MS = 10;

type Options = { readonly topic: string } & Static<Type.TObject<typeof brokerOptions>>;

/** Who hears of the connection itself. */
interface Owner {
  connected(): void;
  brokerIsAway(reason: string | undefined): void;
}

/** The connection to a broker, whose messages are held until the bridge has started. */
export class Connection {
  readonly link: MqttLink;
  readonly client: Client;
  readonly health: Health;
  #owner: Owner | undefined;
  #isConnected = false;
  #awayReason: string | undefined;

  private constructor({ config, call, log, reportDegraded }: PluginContext<Options, undefined>) {
    this.health = new Health(reportDegraded, log);
    this.client = new Client(config.topic, this.health);
    this.link = new MqttLink({
      ...{ broker: brokerOf(config, call), log },
      report: (reason) => {
        this.#awayReason = reason;
        this.#owner?.brokerIsAway(reason);
      },
      onConnected: () => {
        this.#isConnected = true;
        this.#owner?.connected();
      },
    });
  }

  /** Connects, and waits a moment for what is retained. It ends with `ctx`. */
  static async open(ctx: PluginContext<Options, undefined>): Promise<Connection> {
    const { signal, onDispose } = ctx;
    const connection = new Connection(ctx);
    onDispose(() => connection.health.close());
    onDispose(connection.client.follow(connection.link));
    const running = connection.link.run(signal);
    onDispose(() => running);
    const endsAt = performance.now() + LISTED_WITHIN_MS;
    while (!connection.client.isListed && performance.now() < endsAt) await delay(LOOK_EVERY_MS);
    return connection;
  }

  /** Tells the bridge of the connection from now on, and what has been until now. */
  tell(owner: Owner): void {
    this.#owner = owner;
    if (this.#awayReason !== undefined) owner.brokerIsAway(this.#awayReason);
    if (this.#isConnected) owner.connected();
  }
}

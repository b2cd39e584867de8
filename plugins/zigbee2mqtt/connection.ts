import { Health, type PluginContext, type Static, type Type } from "@mantel/plugin-sdk";
import { type brokerOptions, PreconnectedClient } from "@mantel/plugin-sdk/mqtt";
import { Client } from "./client.ts";
import { type BridgeHealth, REASONS } from "./health.ts";

/**
 * Retained lists arrive immediately; the start does not wait longer for a Zigbee2MQTT that may not
 * be running.
 */
const LISTED_WITHIN_MS = 700;

export type Options = { readonly topic: string } & Static<Type.TObject<typeof brokerOptions>>;

/** A connection to a broker, and a buffer for its messages until the bridge has started. */
export interface Connection {
  readonly mqtt: PreconnectedClient;
  readonly client: Client;
  readonly health: BridgeHealth;
}

/** Connects, and waits briefly for retained messages. The connection closes with `ctx`. */
export async function connect(ctx: PluginContext<Options, undefined>): Promise<Connection> {
  const health = new Health(ctx, REASONS);
  const client = new Client(ctx.config.topic, health);
  const mqtt = new PreconnectedClient(ctx);
  ctx.onDispose(() => health.close());
  ctx.onDispose(client.follow(mqtt.client));
  if (await mqtt.open()) await mqtt.until(() => client.isListed, LISTED_WITHIN_MS);
  return { mqtt, client, health };
}

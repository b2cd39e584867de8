import type { PluginContext, Static, Type } from "@mantel/plugin-sdk";
import { type brokerOptions, Health, LinkAhead } from "@mantel/plugin-sdk/mqtt";
import { Client } from "./client.ts";
import { type BridgeHealth, REASONS } from "./health.ts";

/** Retained lists come at once; a start does not wait longer for a Zigbee2MQTT that may not run. */
const LISTED_WITHIN_MS = 700;

type Options = { readonly topic: string } & Static<Type.TObject<typeof brokerOptions>>;

/** A connection to a broker, and what holds its messages until the bridge has started. */
export interface Connection {
  readonly ahead: LinkAhead;
  readonly client: Client;
  readonly health: BridgeHealth;
}

/** Connects, and waits a moment for what is retained. It ends with `ctx`. */
export async function connect(ctx: PluginContext<Options, undefined>): Promise<Connection> {
  const health = new Health(ctx, REASONS);
  const client = new Client(ctx.config.topic, health);
  const ahead = new LinkAhead(ctx);
  ctx.onDispose(() => health.close());
  ctx.onDispose(client.follow(ahead.link));
  if (await ahead.open()) await ahead.until(() => client.isListed, LISTED_WITHIN_MS);
  return { ahead, client, health };
}

import type { TestContext } from "node:test";
import { brokerAddress } from "@mantel/plugin-sdk";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { connectAsync, type IClientOptions, type MqttClient } from "mqtt";
import plugin from "../../../plugins/mqtt-broker/index.ts";
import { freePort } from "../../helpers/free-port.ts";

export interface BrokerOptions {
  readonly port?: number;
  readonly users?: Readonly<
    Record<string, { password: string; read?: string[]; write?: string[] }>
  >;
  readonly anonymous?: { read?: string[]; write?: string[] };
  readonly handedOver?: unknown;
}

/** Starts the broker in this process; `login` has what plugins connect with. */
export async function startBroker(t: TestContext, options: BrokerOptions = {}) {
  const { handedOver, ...rest } = options;
  const config = { host: "127.0.0.1", users: {}, port: await freePort(), ...rest };
  const broker = await startPlugin(plugin, { config, handedOver });
  const { url, username = "", password = "" } = await broker.call(brokerAddress, {});
  let state: Promise<unknown> | undefined;
  const stop = () => (state ??= broker.stop());
  t.after(stop);
  const login = { username, password, protocolVersion: 4 } as const;
  return { url, login, port: config.port, logs: broker.logs, stop };
}

/** A client that does not come back by itself, and ends with the test. */
export async function connected(
  t: TestContext,
  url: string,
  options: IClientOptions = {},
): Promise<MqttClient> {
  const client = await connectAsync(url, { protocolVersion: 4, reconnectPeriod: 0, ...options });
  client.on("error", () => undefined); // the test sees that it has closed
  t.after(() => client.endAsync(true));
  return client;
}

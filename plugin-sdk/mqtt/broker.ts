import { Type, type Static } from "typebox";
import type { PluginContext } from "../context.ts";
import { type MqttBroker, mqttBroker } from "../services/mqtt.ts";

const Text = (title: string) => Type.Optional(Type.String({ title, minLength: 1 }));

/** Plugin options for a broker's address and credentials. Spread them into a plugin's own options. */
export const brokerOptions = {
  url: Type.Optional(
    Type.String({
      title: "Address",
      description: "the broker's address, such as mqtts://nas.local:8883",
      pattern: "^(mqtts?|wss?)://[^\\s@]+$",
    }),
  ),
  username: Text("User name"),
  password: Type.Optional(Type.String({ title: "Password", minLength: 1, writeOnly: true })),
  ca: Text("Certificate (PEM) to trust instead of the system's"),
};

const BrokerOptions = Type.Object(brokerOptions);

/**
 * Returns the broker in a plugin's options, or the home's broker without one. The plugin's manifest must list
 * `mqtt.broker` under `uses`, and `config:url` and `service:mqtt.broker` under `permissions.hosts`.
 */
export function brokerOf(
  { url, username, password, ca }: Static<typeof BrokerOptions>,
  call: PluginContext<unknown, unknown>["call"],
): () => Promise<MqttBroker> {
  return async () =>
    url === undefined
      ? call(mqttBroker, {})
      : {
          url,
          ...(username === undefined ? {} : { username }),
          ...(password === undefined ? {} : { password }),
          ...(ca === undefined ? {} : { ca }),
        };
}

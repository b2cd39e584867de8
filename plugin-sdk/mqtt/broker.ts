import { Type, type Static } from "typebox";
import type { PluginContext } from "../context.ts";
import type { MqttBroker } from "../service.ts";

const Text = (title: string) => Type.Optional(Type.String({ title, minLength: 1 }));

/** The options by which people name a broker, to spread into a plugin's own. */
export const brokerOptions = {
  url: Type.Optional(
    Type.String({
      title: "Address",
      description: "the address of a broker such as mqtts://nas.local:8883",
      pattern: "^(mqtts?|wss?)://[^\\s@]+$",
    }),
  ),
  username: Text("User name"),
  password: Type.Optional(Type.String({ title: "Password", minLength: 1, writeOnly: true })),
  ca: Text("Certificate (PEM) to trust instead of the system's"),
};

const BrokerOptions = Type.Object(brokerOptions);

/**
 * Finds the broker that a plugin's options name, or else the house's. The manifest of a plugin that
 * calls it names `mqtt.broker` under `uses`, and `config:url` and `service:mqtt.broker` under
 * `permissions.hosts`.
 */
export function brokerOf(
  { url, username, password, ca }: Static<typeof BrokerOptions>,
  call: PluginContext<unknown, unknown>["call"],
): () => Promise<MqttBroker> {
  return async () =>
    url === undefined
      ? call("mqtt.broker", {})
      : {
          url,
          ...(username === undefined ? {} : { username }),
          ...(password === undefined ? {} : { password }),
          ...(ca === undefined ? {} : { ca }),
        };
}

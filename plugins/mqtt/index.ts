import {
  brokerAddress,
  definePlugin,
  mqttBroker,
  mqttPublish,
  type PluginContext,
  provide,
  type Static,
  Type,
} from "@mantel/plugin-sdk";
import { brokerOptions, MqttClient } from "@mantel/plugin-sdk/mqtt";

const Options = Type.Object(brokerOptions);

/** The connection to the broker in `mqtt.url`, or to the embedded one. */
export default definePlugin({
  options: Options,

  /** During a reload the old connection publishes until the new one is connected. */
  async connect(ctx) {
    const { log, status, signal, onDispose } = ctx;
    const broker = brokerFrom(ctx);
    const client = new MqttClient({ broker, log, status });
    const running = client.run(signal);
    onDispose(() => running);
    await client.attempted();
    return { client, broker };
  },

  start: ({ config }, { client, broker }) => ({
    canRest: () => config.url === undefined, // users see the state of a connection to a broker of their own
    services: [
      provide(mqttPublish, (message) => client.publish(message)),
      provide(mqttBroker, broker),
    ],
  }),
});

function brokerFrom({ config, call }: PluginContext<Static<typeof Options>, undefined>) {
  const { url, ...credentials } = config;
  return async () => (url === undefined ? call(brokerAddress, {}) : { url, ...credentials });
}

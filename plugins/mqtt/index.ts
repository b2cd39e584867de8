import { EventEmitter, once } from "node:events";
import { definePlugin, type PluginContext, type Static, Type } from "@mantel/plugin-sdk";
import { brokerOptions, MqttLink } from "@mantel/plugin-sdk/mqtt";

/** A broker that is there has answered by then; a start does not wait longer for one that may be away. */
const CONNECTED_WITHIN_MS = 300;

const Options = Type.Object(brokerOptions);

/** The link to the broker that `mqtt.url` names, or else to the embedded one. */
export default definePlugin({
  options: Options,

  /** Within a reload the old link publishes until the new one is connected. */
  async connect(ctx) {
    const { log, reportDegraded: report, signal, onDispose } = ctx;
    const broker = brokerFrom(ctx);
    const events = new EventEmitter<{ connected: [] }>();
    const link = new MqttLink({
      ...{ broker, log, report },
      onConnected: () => events.emit("connected"),
    });
    const connected = once(events, "connected", {
      signal: AbortSignal.timeout(CONNECTED_WITHIN_MS),
    });
    const running = link.run(signal);
    onDispose(() => running);
    await connected.catch(() => undefined);
    return { link, broker };
  },

  start: (_ctx, { link, broker }) => ({
    services: { "mqtt.publish": (message) => link.publish(message), "mqtt.broker": broker },
  }),
});

function brokerFrom({ config, call }: PluginContext<Static<typeof Options>, undefined>) {
  const { url, ...credentials } = config;
  return async () => (url === undefined ? call("broker.address", {}) : { url, ...credentials });
}

import { definePlugin, Type } from "@mantel/plugin-sdk";
import { brokerOptions, MqttLink } from "@mantel/plugin-sdk/mqtt";

/** The link to the broker that `mqtt.url` names, or else to the embedded one. */
export default definePlugin({
  options: Type.Object(brokerOptions),

  start({ config, call, log, signal, reportDegraded, onDispose }) {
    const { url, ...credentials } = config;
    const broker = async () =>
      url === undefined ? call("broker.address", {}) : { url, ...credentials };

    const link = new MqttLink({ broker, log, report: reportDegraded });
    const running = link.run(signal);
    onDispose(() => running);
    return {
      services: { "mqtt.publish": (message) => link.publish(message), "mqtt.broker": broker },
    };
  },
});

import { definePlugin, type DeviceDescription, Type } from "@mantel/plugin-sdk";
import { brokerOf, brokerOptions, MqttLink } from "@mantel/plugin-sdk/mqtt";
import { Bridge } from "./bridge.ts";
import { Health } from "./health.ts";
import { Memory } from "./memory.ts";

const { url, ...credentials } = brokerOptions;

/** Zigbee devices, groups and scenes of a Zigbee2MQTT 2, through the broker that both are connected to. */
export default definePlugin({
  options: Type.Object({
    topic: Type.String({
      title: "Base topic",
      description:
        "what mqtt.base_topic is in the settings of Zigbee2MQTT, without a slash at its end",
      pattern: "^[^+#/$\\u0000][^+#\\u0000]*(?<!/)$",
      maxLength: 200,
      default: "zigbee2mqtt",
    }),
    url: { ...url, title: "Broker, if it is not the house's" },
    ...credentials,
  }),
  state: Type.Object({
    version: Type.Literal(1),
    isOnline: Type.Boolean(),
    devices: Type.Array(Type.Unsafe<DeviceDescription>(Type.Object({ nativeId: Type.String() }))),
  }),

  async start(ctx) {
    const { config, call, log, signal, handedOver, reportDegraded, onDispose } = ctx;
    const health = new Health(reportDegraded, log);
    onDispose(() => health.close());
    const memory = new Memory(ctx.storage, log);
    onDispose(() => memory.close());
    const devices = handedOver?.devices ?? (await memory.recall());

    const link = new MqttLink({
      ...{ broker: brokerOf(config, call), log },
      report: (reason) => bridge.brokerIsAway(reason),
      onConnected: () => bridge.connected(),
    });
    const isOnline = handedOver?.isOnline ?? false;
    const bridge = new Bridge(
      { ...{ ctx, link, health, memory }, topic: config.topic },
      devices,
      isOnline,
    );
    onDispose(() => bridge.close());
    await bridge.open();
    const running = link.run(signal);
    onDispose(() => running);

    return {
      command: (nativeId, command) => bridge.command(nativeId, command),
      activateScene: (nativeId) => bridge.activateScene(nativeId),
      handOver: () => ({ version: 1 as const, ...bridge.handOver() }),
    };
  },
});

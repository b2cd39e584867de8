import { definePlugin, type DeviceDescription, Type } from "@mantel/plugin-sdk";
import { brokerOptions, Marks } from "@mantel/plugin-sdk/mqtt";
import { Bridge } from "./bridge.ts";
import { connect } from "./connection.ts";
import { DeviceCache } from "./device-cache.ts";
import { tryOut } from "./try-out.ts";

/** Zigbee devices, groups and scenes of a Zigbee2MQTT 2, through the broker that both are connected to. */
export default definePlugin({
  options: Type.Object({
    topic: Type.String({
      title: "Base topic",
      description:
        "what mqtt.base_topic is in the settings of Zigbee2MQTT, without a slash at its end",
      pattern: "^[^+#/$\\u0000]([^+#\\u0000]*[^+#/\\u0000])?$",
      maxLength: 200,
      default: "zigbee2mqtt",
    }),
    ...brokerOptions,
  }),
  state: Type.Object({
    version: Type.Literal(2),
    isOnline: Type.Boolean(),
    heard: Marks,
    devices: Type.Array(Type.Unsafe<DeviceDescription>(Type.Object({ nativeId: Type.String() }))),
  }),

  test: tryOut,
  connect,

  async start(ctx, { mqtt, client, health }) {
    const { config, log, storage, handedOver, onDispose } = ctx;
    const memory = new DeviceCache(storage, log);
    onDispose(() => memory.close());
    const before = handedOver ?? { isOnline: false, devices: await memory.recall(), heard: [] };
    const parts = { ctx, mqtt: mqtt.client, client, health, memory, topic: config.topic };
    const bridge = new Bridge(parts, before);
    onDispose(() => bridge.close());
    await bridge.open(before.heard);
    mqtt.attach(bridge);

    return {
      command: (nativeId, command) => bridge.command(nativeId, command),
      activateScene: (nativeId) => bridge.activateScene(nativeId),
      handOver: () => ({ version: 2 as const, ...bridge.handOver() }),
    };
  },
});

import { definePlugin, DeviceCache, type DeviceDescription, Type } from "@mantel/plugin-sdk";
import { brokerOptions, Marks } from "@mantel/plugin-sdk/mqtt";
import { Bridge, type HandedOver } from "./bridge.ts";
import { connect } from "./connection.ts";
import { devicesIn, type StoredDevices } from "./stored-devices.ts";
import { tryOut } from "./try-out.ts";

/** States of battery devices are stored too, because these may send nothing for hours. */
const SAVE_AFTER_MS = 60_000;

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
    version: Type.Literal(3),
    isOnline: Type.Boolean(),
    heard: Marks,
    devices: Type.Array(Type.Unsafe<DeviceDescription>(Type.Object({ nativeId: Type.String() }))),
  }),

  test: tryOut,
  connect,

  async start(ctx, connection) {
    const cache = new DeviceCache<StoredDevices>(ctx, "devices", SAVE_AFTER_MS);
    const known = ctx.handedOver ?? (await handedOverOf(await cache.read()));
    const bridge = new Bridge(ctx, connection, cache, known);
    ctx.onDispose(() => bridge.close());
    await bridge.open(known.heard);
    connection.mqtt.attach(bridge);

    return {
      command: (nativeId, command, _id, beyond) => bridge.command(nativeId, command, beyond),
      activateScene: (nativeId) => bridge.activateScene(nativeId),
      handOver: () => ({ version: 3 as const, ...bridge.handOver() }),
    };
  },
});

/** The state at a start without handover: the stored devices, which are unavailable until the bridge answers. */
async function handedOverOf(stored: unknown): Promise<HandedOver> {
  return { isOnline: false, devices: await devicesIn(stored), heard: [] };
}

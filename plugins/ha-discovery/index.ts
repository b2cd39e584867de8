import { definePlugin, DeviceCache, Type } from "@mantel/plugin-sdk";
import { brokerOptions } from "@mantel/plugin-sdk/mqtt";
import { Bridge } from "./bridge.ts";
import { Listening } from "./listening.ts";
import { readStoredHome, State, type StoredHome } from "./state.ts";
import { tryBroker } from "./trial.ts";

const SAVE_AFTER_MS = 15_000;

/** Devices that announce themselves by Home Assistant's MQTT discovery. */
export default definePlugin({
  options: Type.Object({
    ...brokerOptions,
    prefix: Type.String({
      title: "Discovery prefix",
      description: "the topic below which devices announce themselves",
      default: "homeassistant",
      pattern: "^[^+#\\s/$][^+#\\s/]*(/[^+#\\s/]+)*$",
      maxLength: 200,
    }),
    tasmota: Type.Boolean({
      title: "Tasmota devices",
      description: "also devices that announce themselves below tasmota/discovery",
      default: true,
    }),
    refusedTopics: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      title: "Topics that devices may not be commanded through",
      description:
        "with + and #; what is announced with one of them is shown and takes no commands",
      default: ["zigbee2mqtt/bridge/request/#"],
      maxItems: 100,
    }),
  }),
  state: State,
  test: tryBroker,

  async connect(ctx) {
    const cache = new DeviceCache<StoredHome>(ctx, "announcements", SAVE_AFTER_MS);
    const stored = readStoredHome(await cache.read());
    return { cache, stored, listening: await Listening.open(ctx, stored.announcements) };
  },

  async start(ctx, { cache, stored, listening }) {
    const bridge = new Bridge(ctx, { listening, cache, compositions: stored.compositions });
    await bridge.start();

    return {
      command: (nativeId, command, _, beyond) => bridge.command(nativeId, command, beyond),
      activateScene: (nativeId) => bridge.activateScene(nativeId),
      image: async (nativeId) => bridge.image(nativeId),
      handOver: () => bridge.handOver(),
    };
  },
});

import { definePlugin, Type } from "@mantel/plugin-sdk";
import { brokerOptions } from "@mantel/plugin-sdk/mqtt";
import { Bridge } from "./bridge.ts";
import { openDeviceCache } from "./device-cache.ts";
import { Listening } from "./listening.ts";
import { State } from "./state.ts";
import { tryBroker } from "./trial.ts";

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
    const store = await openDeviceCache(ctx.storage);
    return { store, listening: await Listening.open(ctx, store.kept) };
  },

  async start(ctx, { store, listening }) {
    const bridge = new Bridge(ctx, listening);
    await bridge.start(ctx.handedOver);
    ctx.onDispose(() => bridge.stop());
    ctx.onDispose(store.follow(() => listening.announcements));

    return {
      command: (nativeId, command) => bridge.commands.carryOut(nativeId, command),
      activateScene: (nativeId) => bridge.activateScene(nativeId),
      handOver: () => bridge.handOver(),
    };
  },
});

import { EventEmitter, once } from "node:events";
import { definePlugin, Type } from "@mantel/plugin-sdk";
import { brokerOf, brokerOptions, MqttLink } from "@mantel/plugin-sdk/mqtt";
import { Bridge } from "./bridge.ts";
import { State } from "./state.ts";
import { openStore } from "./store.ts";
import { tryBroker } from "./trial.ts";

/** How long a reload waits for the broker before it goes on without. */
const CONNECT_MS = 1_000;

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

  async start(ctx) {
    const { config, handedOver, signal, log, onDispose } = ctx;
    const store = await openStore(ctx.storage);
    const reached = new EventEmitter<{ connected: [] }>();
    const link = new MqttLink({
      broker: brokerOf(config, ctx.call),
      log,
      report: (reason) => bridge.report(reason),
      onConnected() {
        bridge.connected();
        reached.emit("connected");
      },
    });
    const bridge: Bridge = new Bridge(ctx, link);
    bridge.listen(handedOver?.topics ?? []);
    const running = link.run(signal);
    onDispose(() => running);
    // Between two generations nobody listens: that ends first, before all that was handed over is read.
    if (handedOver) {
      const soon = AbortSignal.timeout(CONNECT_MS);
      await once(reached, "connected", { signal: soon }).catch(() => undefined);
    }
    await bridge.start(handedOver?.kept ?? store.kept, handedOver);
    onDispose(() => bridge.stop());
    onDispose(store.follow(() => bridge.announced));

    return {
      command: (nativeId, command) => bridge.commands.carryOut(nativeId, command),
      activateScene: (nativeId) => bridge.activateScene(nativeId),
      handOver: () => bridge.state,
    };
  },
});

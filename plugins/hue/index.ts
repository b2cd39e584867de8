import { definePlugin } from "@mantel/plugin-sdk";
import { startDeviceStore } from "./device-store.ts";
import { bridgesOf } from "./discovery.ts";
import { Options, State } from "./options.ts";
import { pair, tryBridges } from "./pairing.ts";

/** Philips Hue bridges over CLIP v2, their local interface. */
export default definePlugin({
  options: Options,
  state: State,
  test: ({ config }) => tryBridges(config),
  setup: (ctx) => pair(ctx, bridgesOf(ctx.discover)),
  start: (ctx) => startDeviceStore(ctx),
});

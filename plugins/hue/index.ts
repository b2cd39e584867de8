import { definePlugin } from "@mantel/plugin-sdk";
import { startHouse } from "./house.ts";
import { Options, State } from "./options.ts";
import { pair, tryBridges } from "./pairing.ts";

/** Philips Hue bridges over CLIP v2, the interface that they have in the home's own network. */
export default definePlugin({
  options: Options,
  state: State,
  test: ({ config }) => tryBridges(config),
  setup: (ctx) => pair(ctx),
  start: (ctx) => startHouse(ctx),
});

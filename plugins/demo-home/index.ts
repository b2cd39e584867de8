import { definePlugin } from "@mantel/plugin-sdk";
import { Options, startHome } from "./home.ts";
import { World } from "./world.ts";

/** A demo home in memory, for trying Mantel without hardware. */
export default definePlugin({
  options: Options,
  state: World,
  start: (ctx) => startHome(ctx),
});

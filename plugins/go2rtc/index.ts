import { definePlugin } from "@mantel/plugin-sdk";
import { Cameras, Known } from "./cameras.ts";
import { Client } from "./client.ts";
import { Options } from "./options.ts";

/** The cameras of a go2rtc server. */
export default definePlugin({
  options: Options,
  state: Known,

  async test({ config, signal }) {
    const { length } = await new Client(config, signal).names();
    return `go2rtc answers, with ${length} ${length === 1 ? "camera" : "cameras"}`;
  },

  async start(ctx) {
    const cameras = new Cameras(ctx);
    await cameras.start();
    return {
      image: (name) => cameras.picture(name),
      frames: (name, signal) => cameras.frames(name, signal),
      video: (name, offer) => cameras.video(name, offer),
      handOver: () => cameras.known,
    };
  },
});

import { calendarEvents, definePlugin, provide, Type } from "@mantel/plugin-sdk";
import { Bridge } from "./bridge.ts";
import type { KeptDevices } from "./device-store.ts";
import { record } from "./entities.ts";
import { Options } from "./options.ts";
import { Session } from "./session.ts";

/** The devices, rooms and scenes of a Home Assistant, over its websocket API. */
export default definePlugin({
  options: Options,
  state: Type.Unsafe<KeptDevices>(
    Type.Object({ devices: Type.Array(Type.Unknown()), scenes: Type.Array(Type.Unknown()) }),
  ),

  async test({ config, signal, onDispose }) {
    const session = await Session.open(config, signal);
    onDispose(() => session.close());
    const { location_name: name } = record(await session.ask({ type: "get_config" }));
    const states = await session.ask({ type: "get_states" });
    const count = Array.isArray(states) ? states.length : 0;
    return `Home Assistant ${session.version}, "${String(name).slice(0, 100)}", with ${count} entities`;
  },

  async start(ctx) {
    const bridge = new Bridge(ctx);
    await bridge.start();
    return {
      command: (nativeId, command, _, beyond) => bridge.command(nativeId, command, beyond),
      activateScene: (nativeId) => bridge.activateScene(nativeId),
      image: (nativeId) => bridge.image(nativeId),
      frames: (nativeId, signal) => bridge.frames(nativeId, signal),
      services: [provide(calendarEvents, ({ start, end }) => bridge.events(start, end))],
      handOver: () => bridge.handOver(),
    };
  },
});

// npm run bench drop [-- reloads]: requests that fail, and the longest wait of one, while a bridge
// reloads again and again under 200 requests a second to all its devices and 50 commands a second.
import { setTimeout as delay } from "node:timers/promises";
import { openHome, repeat, serveHost } from "./house.ts";

const READS_PER_SECOND = 200;
const COMMANDS_PER_SECOND = 50;
const FILES_TO_SAVE = "lamp/index.ts";

const plugin = (round: number): string => `
import { definePlugin, Type } from "@mantel/plugin-sdk";
export default definePlugin({
  state: Type.Object({ count: Type.Integer() }),
  async start({ devices, handedOver }) {
    let count = handedOver?.count ?? 0;
    const state = () => ({ on: true, received: count, round: ${round} });
    await devices.publish([{
      nativeId: "lamp", kind: "light", name: "Lamp", state: state(),
      capabilities: {
        on: { type: "boolean" },
        brightness: { type: "number", min: 0, max: 100, unit: "%" },
        received: { type: "number", readOnly: true },
        round: { type: "number", readOnly: true },
      },
    }]);
    return {
      async command(nativeId) { count++; devices.update({ nativeId, state: state() }); },
      handOver: () => ({ count }),
    };
  },
});
`;

const reloads = Number(process.argv[2] ?? 100);
const home = await openHome();
const manifest = {
  id: "lamp",
  kinds: ["bridge"],
  server: "index.ts",
  bridge: { kind: "bench", commandsPerSecond: 1000, burst: 1000 },
};
await home.write("lamp/package.json", JSON.stringify({ type: "module", mantel: manifest }));
await home.write(FILES_TO_SAVE, plugin(0));
const mantel = await serveHost(home);
const device = `${mantel.url}/api/v1/smart-home/devices/bench:light:1`;
const headers = {
  authorization: `Bearer ${mantel.token}`,
  "content-type": "application/json",
};

const reads = repeat(READS_PER_SECOND, () => fetch(device, { headers }));
const commands = repeat(COMMANDS_PER_SECOND, () =>
  fetch(`${device}/command`, { method: "POST", headers, body: '{"brightness":50}' }),
);
for (let round = 1; round <= reloads; round++) {
  await home.write(FILES_TO_SAVE, plugin(round));
  await fetch(`${mantel.url}/api/v1/modules/lamp/reload`, { method: "POST", headers });
  await delay(20);
}
const [read, commanded] = [await reads.end(), await commands.end()];
const answer = (await (await fetch(device, { headers })).json()) as {
  state: { received: number; round: number };
};
await mantel.stop();
await home.remove();

const { received, round } = answer.state;
console.log(
  JSON.stringify({ bench: "drop", reloads, lastRound: round, read, commanded, received }),
);

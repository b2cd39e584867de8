import type { BenchHome } from "../bench-home.ts";

/** The number of bridges, because each takes at most 1,000 commands a second. */
export const BRIDGES = 4;

/** The id of the device that starts and stops the changes: its `rate` is the changes a second. */
export const STORM = "bench0:light:1";

/** The id of a lamp other than `STORM`. Lamps in order are of different bridges. */
export function lampId(at: number): string {
  return `bench${at % BRIDGES}:light:${2 + Math.floor(at / BRIDGES)}`;
}

const PLUGIN = (count: number, name: string): string => `
import { definePlugin } from "@mantel/plugin-sdk";
const natives = Array.from({ length: ${count} }, (_, at) => "lamp" + at);
export default definePlugin({
  async start({ devices }) {
    let timer, changes = 0;
    await devices.publish(natives.map((nativeId, at) => ({
      nativeId, kind: "light", name: "${name} " + at, room: "Room " + (at % 20),
      info: { manufacturer: "Bench", model: "Lamp 2", firmware: "1.0.0" },
      capabilities: {
        on: { type: "boolean" },
        brightness: { type: "number", min: 0, max: 100, unit: "%" },
        rate: { type: "number", min: 0, max: 100000 },
      },
      state: { on: false, brightness: 50, rate: 0 },
    })));
    const storm = (perSecond) => {
      clearInterval(timer);
      if (perSecond === 0) return;
      const startedAt = performance.now() - (changes / perSecond) * 1000;
      timer = setInterval(() => {
        const due = ((performance.now() - startedAt) / 1000) * perSecond;
        for (; changes < due; changes++) {
          const nativeId = natives[1 + (changes % (natives.length - 1))];
          const at = Date.now() % 1e8;
          devices.update({ nativeId, state: { brightness: changes % 101, rate: at % 100001 } });
        }
      }, 2);
    };
    return {
      command(nativeId, command) {
        if (nativeId === natives[0] && command.rate !== undefined) storm(command.rate);
        devices.update({ nativeId, state: command });
      },
      stop: () => clearInterval(timer),
    };
  },
});
`;

/** Writes bridges whose lamps confirm commands at once; those of the first change by themselves, see `STORM`. */
export async function writeBenchBridges(
  { write }: BenchHome,
  lamps: number,
  bridges = BRIDGES,
): Promise<void> {
  for (let at = 0; at < bridges; at++) {
    const id = `bench${at}`;
    const bridge = { kind: id, commandsPerSecond: 1_000, burst: 1_000 };
    const mantel = { id, kinds: ["bridge"], server: "index.ts", bridge };
    await write(`${id}/package.json`, JSON.stringify({ name: id, type: "module", mantel }));
    await write(`${id}/index.ts`, benchBridgeCode(Math.ceil((lamps - at) / bridges)));
  }
}

/** The `index.ts` of one of the bridges. Each of its lamps is named `name` and a number. */
export function benchBridgeCode(lamps: number, name = "Lamp"): string {
  return PLUGIN(lamps, name);
}

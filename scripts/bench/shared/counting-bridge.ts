import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The number of lamps, chosen so that commands to one lamp are rarely merged. */
export const LAMPS = 20;

const MANIFEST = {
  id: "counter",
  kinds: ["bridge"],
  server: "index.ts",
  bridge: { kind: "count", commandsPerSecond: 1_000, burst: 1_000 },
  permissions: { folders: ["asked"] },
};

/**
 * A bridge that appends the id of each command to a file, which survives its process, and counts commands in its
 * handed-over state. Each `round` gives different code; `fault` is a statement in its start.
 */
export function countingBridge(round: number, fault = ""): Readonly<Record<string, string>> {
  return {
    "counter/package.json": JSON.stringify({ type: "module", mantel: MANIFEST }),
    "counter/index.ts": `
import { appendFileSync } from "node:fs";
import { definePlugin, Type } from "@mantel/plugin-sdk";
const natives = Array.from({ length: ${LAMPS} }, (_, at) => "lamp" + at);
export default definePlugin({
  state: Type.Object({ count: Type.Integer() }),
  async start({ devices, folder, handedOver }) {
    let count = handedOver?.count ?? 0;
    const state = () => ({ count, round: ${round} });
    ${fault}
    await devices.publish(natives.map((nativeId) => ({
      nativeId, kind: "light", name: nativeId, state: state(),
      capabilities: {
        brightness: { type: "number", min: 0, max: 100, unit: "%" },
        count: { type: "number", readOnly: true },
        round: { type: "number", readOnly: true },
      },
    })));
    return {
      async command(nativeId, _command, commandId) {
        appendFileSync(folder("asked") + "/ids.txt", commandId + "\\n");
        count++;
        await new Promise((resolve) => setTimeout(resolve, 2));
        devices.update({ nativeId, state: state() });
      },
      handOver: () => ({ count }),
    };
  },
});
`,
  };
}

/** The ids of all commands that reached the bridge, in order. */
export async function askedIds(dataFolder: string): Promise<string[]> {
  const text = await readFile(join(dataFolder, "asked/ids.txt"), "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

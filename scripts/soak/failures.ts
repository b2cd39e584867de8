import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BenchHome, LAMP_IMPORTS, type Served } from "../bench/house.ts";
import { readLamp, reloadLamp } from "./lamp.ts";

const DEADLINE_MS = 20_000;
const POLL_MS = 20;

const entry = (start: string): string => `
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { definePlugin, Type } from "@mantel/plugin-sdk";
${LAMP_IMPORTS}
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc"); // V8 lets it lie for hours, which looks like a leak
export default definePlugin({
  state: Type.Object({ starts: Type.Integer() }),
  async start({ devices, handedOver }) {
    ${start}
    collectGarbage();
    await devices.publish([{
      nativeId: "lamp", kind: "light", name: name + typeof mqtt,
      capabilities: { on: { type: "boolean" } }, state: { on: false },
    }]);
    const starts = 1 + (handedOver?.starts ?? 0);
    return { handOver: () => ({ starts }) };
  },
});
`;
const SOUND = entry("");

/** Ways for code to be wrong. Each round has its own text, so that none is refused unread. */
const FAULTS: readonly ((round: number) => string)[] = [
  (round) => `${SOUND}export const broken = "${round};\n`,
  (round) => `import "no-such-package";\n${SOUND}console.log(${round});\n`,
  (round) => `${SOUND}throw new Error("${round}");\n`,
  (round) => `${SOUND}process.exit(${round});\n`,
  (round) => `export default { start: ${round} };\n`,
  (round) => entry(`throw new Error("${round}");`),
  (round) => entry(`process.exit(${round});`),
  (round) => entry(`for (let at = ${round}; ; at++);`),
  (round) => entry(`await new Promise(() => {}, ${round});`),
  (round) => entry(`if (handedOver) throw new Error("${round}");`),
];

/** The last one is a broken manifest. */
const WAYS = FAULTS.length + 1;
/** No round has a number like this, so that what comes between them is another text. */
const ROUNDS_BEYOND = WAYS * 100_000;

/** Makes the bridge that `writeLamp` has written one with a state. */
export async function giveLampState({ write }: BenchHome): Promise<void> {
  await write("lamp/index.ts", SOUND);
}

/**
 * The ways that are left after a round until all had their turn. A missing package has all the others bundled, which
 * leaves esbuild 20 MiB of garbage: no reading may come right after that, while others come after something else.
 */
export async function failInWaysLeft(home: BenchHome, host: Served, round: number): Promise<void> {
  const cycle = ROUNDS_BEYOND + round * WAYS;
  for (let way = (round % WAYS) + 1; way < WAYS; way++) {
    await failToReload(home, host, cycle + way);
  }
}

/**
 * One reload that fails, in another way each round.
 * @throws Error when the reload does not fail as it must, or the code before is not what goes on
 */
export async function failToReload(home: BenchHome, host: Served, round: number): Promise<void> {
  const fault = FAULTS[round % WAYS];
  if (!fault) return breakManifest(home, host, round);
  await home.write("lamp/index.ts", fault(round));
  const status = await reloadLamp(host);
  if (status !== 422) throw new Error(`round ${round} was answered ${status}`);
}

async function breakManifest(home: BenchHome, host: Served, round: number): Promise<void> {
  const file = join(home.plugins, "lamp/package.json");
  const sound = await readFile(file, "utf8");
  await writeFile(file, sound.replace('"kinds"', `"round${round}":true,"kinds"`));
  const until = performance.now() + DEADLINE_MS;
  while (!(await readLamp(host)).includes(`/round${round}`)) {
    if (performance.now() > until) throw new Error(`the manifest of round ${round} is not refused`);
    await delay(POLL_MS);
  }
  await writeFile(file, sound);
}

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BenchHome, LAMP_IMPORTS, type Served } from "../bench/bench-home.ts";
import { readLamp, reloadLamp } from "./lamp.ts";

const DEADLINE_MS = 20_000;
const POLL_MS = 20;

/**
 * Allocates so much that V8 collects garbage, which a plugin cannot request. This process lives through all rounds, and
 * garbage that is not collected would look like growth.
 */
const MAKE_GARBAGE = "for (let at = 0; at < 40; at++) Array(200_000).fill(at);";

const entry = (start: string): string => `
import { definePlugin, Type } from "@mantel/plugin-sdk";
${LAMP_IMPORTS}
export default definePlugin({
  state: Type.Object({ starts: Type.Integer() }),
  async start({ devices, handedOver, onDispose }) {
    ${start}
    const collecting = setInterval(() => { ${MAKE_GARBAGE} }, 1_000);
    onDispose(() => clearInterval(collecting));
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

/** Kinds of broken code. The text differs in each round, so that the host does not skip it as unchanged. */
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

/** The number of kinds, including a broken manifest. */
const WAYS = FAULTS.length + 1;
/** Above the number of any round, so that the broken code between two rounds is a new text. */
const ROUNDS_BEYOND = WAYS * 100_000;

/** Adds a state to the bridge from `writeLamp`. */
export async function addLampState({ write }: BenchHome): Promise<void> {
  await write("lamp/index.ts", SOUND);
}

/**
 * The remaining kinds after a round, so that each cycle includes all of them. A missing package makes esbuild bundle
 * everything, which leaves 20 MiB of garbage, so no reading may follow it directly.
 */
export async function failInRemainingWays(
  home: BenchHome,
  host: Served,
  round: number,
): Promise<void> {
  const cycle = ROUNDS_BEYOND + round * WAYS;
  for (let way = (round % WAYS) + 1; way < WAYS; way++) {
    await failToReload(home, host, cycle + way);
  }
}

/**
 * Makes one reload fail, in another way each round.
 * @throws Error if the reload does not fail as expected
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

// npm run bench automations [-- seconds saves]: 500 automations and 500 state changes a second through a running host.
// Measures the time from the report of a sensor in its bridge to the command of the automation in the same bridge, the
// processor time of the automations' process, and saves of one automation under that load.
import { setTimeout as delay } from "node:timers/promises";
import { openHome, serveHost } from "./bench-home.ts";
import { summarise } from "./shared/figures.ts";

const COUNT = 500;
const START_MS = 30_000;

const DEFINITIONS = `
import { defineService, Type } from "@mantel/plugin-sdk";
export const measure = defineService("bench.measure", {
  input: Type.Object({ seconds: Type.Number() }),
  output: Type.Object({ latencies: Type.Array(Type.Number()), changes: Type.Integer(), answered: Type.Integer(), crossed: Type.Integer() }),
  deadlineMs: 60_000,
  open: "read",
});
`;
/** Every tenth change crosses the limit of an automation. */
const BRIDGE = `
import { setTimeout as delay } from "node:timers/promises";
import { definePlugin, provide } from "@mantel/plugin-sdk";
import { measure } from "./services.ts";
const COUNT = ${COUNT};
export default definePlugin({
  async start({ devices }) {
    const numbers = Array.from({ length: COUNT }, (_, at) => at);
    await devices.publish([
      ...numbers.map((at) => ({ nativeId: "s" + at, kind: "sensor", name: "Sensor " + at, capabilities: { temperature: { type: "number", unit: "°C", readOnly: true, min: -50, max: 100 } }, state: { temperature: 20 } })),
      ...numbers.map((at) => ({ nativeId: "l" + at, kind: "light", name: "Lamp " + at, capabilities: { on: { type: "boolean" } }, state: { on: false } })),
    ] as never);
    const changedAt = new Map<string, number>();
    let latencies: number[] = [];
    return {
      async command(nativeId: string, command: { on?: boolean }) {
        const at = changedAt.get(nativeId);
        if (at !== undefined) latencies.push(performance.now() - at);
        changedAt.delete(nativeId);
        devices.update({ nativeId, state: command as never });
      },
      services: [
        provide(measure, async ({ seconds }) => {
          latencies = [];
          let changes = 0, crossed = 0, next = 0;
          const startedAt = performance.now();
          const endsAt = startedAt + seconds * 1_000;
          const high = new Set<number>();
          while (performance.now() < endsAt) {
            const due = Math.floor(((performance.now() - startedAt) / 1_000) * 500);
            for (; changes < due; changes++) {
              const at = next++ % COUNT;
              const crosses = (changes + Math.floor(changes / COUNT)) % 10 === 3;
              if (crosses) { crossed++; changedAt.set("l" + at, performance.now()); high.add(at); }
              else high.delete(at);
              devices.update({ nativeId: "s" + at, state: { temperature: (crosses ? 30 : 15) + Math.random() } });
            }
            await delay(2);
          }
          await delay(500);
          return { latencies, changes, crossed, answered: latencies.length };
        }),
      ],
    };
  },
});
`;

const [seconds = 20, saves = 200] = process.argv.slice(2).map(Number);
const home = await openHome(["automations"]);
const bridge = { kind: "bench", commandsPerSecond: 1_000, burst: 1_000 };
const mantel = {
  id: "bench-home",
  kinds: ["bridge"],
  server: "index.ts",
  bridge,
  provides: ["bench.measure"],
};
await home.write(
  "bench-home/package.json",
  JSON.stringify({ name: "bench-home", type: "module", mantel }),
);
await home.write("bench-home/services.ts", DEFINITIONS);
await home.write("bench-home/index.ts", BRIDGE);
const served = await serveHost(home);
const headers = { authorization: `Bearer ${served.token}`, "content-type": "application/json" };

await whenReady();
for (let at = 1; at <= COUNT; at++) await request("POST", "/automations", automation(at));
await measure(3);
const shares: number[] = [];
const sampling = setInterval(() => void sampleCpu(), 1_000);
const measured = await measure(seconds);
clearInterval(sampling);
const [duringSaves, saveMs] = await Promise.all([measure(seconds), saveMany()]);
const { memoryBytes } = (await moduleView()).resources;
await served.stop();
await home.remove();
console.log(
  JSON.stringify({
    bench: "automations",
    automations: COUNT,
    changesPerSecond: Math.round(measured.changes / seconds),
    crossed: measured.crossed,
    answered: measured.answered,
    commandMs: summarise(measured.latencies),
    saveMs: summarise(saveMs),
    duringSaves: { crossed: duringSaves.crossed, answered: duringSaves.answered },
    cpuPercent: summarise(shares),
    memoryMiB: Math.round(memoryBytes / 2 ** 20),
  }),
);

function automation(at: number) {
  return {
    name: `Automation ${at}`,
    mode: "restart",
    triggers: [{ type: "state", device: `bench:sensor:${at}`, field: "temperature", above: 25 }],
    conditions: [{ type: "state", device: `bench:sensor:${at}`, field: "temperature", below: 50 }],
    actions: [{ type: "command", device: `bench:light:${at}`, command: { on: true } }],
  };
}

async function saveMany(): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < saves; count++) {
    const at = (count % COUNT) + 1;
    const startedAt = performance.now();
    await request("PUT", `/automations/automation-${at}`, automation(at));
    times.push(performance.now() - startedAt);
  }
  return times;
}

interface Measured {
  readonly latencies: number[];
  readonly changes: number;
  readonly crossed: number;
  readonly answered: number;
}

async function measure(forSeconds: number): Promise<Measured> {
  return (await request("POST", "/services/bench.measure", { seconds: forSeconds })) as Measured;
}

interface View {
  readonly resources: { readonly memoryBytes: number; readonly cpuPercent: number | null };
  readonly state: string;
}

async function moduleView(): Promise<View> {
  return (await request("GET", "/modules/automations")) as View;
}

/** Notes the share of one core that the automations' process uses. */
async function sampleCpu(): Promise<void> {
  const { cpuPercent } = (await moduleView()).resources;
  if (cpuPercent !== null) shares.push(cpuPercent);
}

async function whenReady(): Promise<void> {
  const endsAt = performance.now() + START_MS;
  for (;;) {
    try {
      await measure(0.1);
      if ((await moduleView()).state === "active") return;
    } catch (error) {
      if (performance.now() > endsAt) throw error;
    }
    await delay(100);
  }
}

async function request(method: string, path: string, body?: object): Promise<unknown> {
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(`${served.url}/api/v1${path}`, init);
  if (answer.ok) return answer.json();
  throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
}

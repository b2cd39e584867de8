// npm run bench reload [-- count]: time from the end of a save to the first answer of the new code,
// for a plugin of ten files with one npm dependency, and for the same code in a server that
// `node --watch` restarts.
import { setTimeout as delay } from "node:timers/promises";
import { type BenchHome, openHome, serve, serveHost, summarise } from "./house.ts";

const FILES = 9;
const WARM_UP = 5;
const PAUSE_MS = 150;

const MANIFEST = {
  name: "@bench/lamp",
  version: "1.0.0",
  type: "module",
  mantel: {
    id: "lamp",
    kinds: ["bridge"],
    server: "index.ts",
    bridge: { kind: "bench", commandsPerSecond: 10 },
  },
};
const IMPORTS = Array.from({ length: FILES - 1 }, (_, at) => `import "./part${at}.ts";`).join("\n");
const PLUGIN = `
import { definePlugin } from "@mantel/plugin-sdk";
import mqtt from "mqtt";
${IMPORTS}
import { name } from "./name.ts";
export default definePlugin({
  start: ({ devices }) => devices.publish([{
    nativeId: "lamp", kind: "light", name: name + typeof mqtt,
    capabilities: { on: { type: "boolean" } }, state: { on: false },
  }]),
});
`;
const SERVER = `
import { createServer } from "node:http";
import Koa from "koa";
import mqtt from "mqtt";
${IMPORTS}
import { name } from "./name.ts";
const app = new Koa();
app.use((ctx) => { ctx.body = name + typeof mqtt; });
const server = createServer(app.callback()).listen(Number(process.argv[2]), "127.0.0.1", () =>
  console.log("ready http://127.0.0.1:" + server.address().port));
`;

const count = Number(process.argv[2] ?? 30);
const home = await openHome();
await home.write("lamp/package.json", JSON.stringify(MANIFEST));
await home.write("lamp/index.ts", PLUGIN);
await home.write("lamp/server.ts", SERVER);
for (let at = 0; at < FILES - 1; at++) {
  await home.write(`lamp/part${at}.ts`, `export const part${at}: number = ${at};\n`);
}
await save(home, 0);

const mantel = await serveHost(home);
const reload = await measure(async () => {
  const headers = { authorization: `Bearer ${mantel.token}` };
  return (await fetch(`${mantel.url}/api/v1/smart-home/devices/bench:light:1`, { headers })).text();
});
await mantel.stop();

const watched = ["--watch", "--import", "tsx", `${home.plugins}/lamp/server.ts`];
const probe = await serve([...watched.slice(1), "0"]); // finds a free port: a restart needs the same
await probe.stop();
const alternative = await serve([...watched, new URL(probe.url).port]);
const restart = await measure(async () => (await fetch(alternative.url)).text());
await alternative.stop();
await home.remove();

console.log(
  JSON.stringify({ bench: "reload", unit: "ms", count, mantel: reload, nodeWatch: restart }),
);

/** Saves another name again and again, and asks until the answer holds it. */
async function measure(ask: () => Promise<string>): Promise<ReturnType<typeof summarise>> {
  const millis: number[] = [];
  for (let round = 1; round <= count + WARM_UP; round++) {
    await delay(PAUSE_MS);
    await save(home, round);
    const savedAt = performance.now();
    while (!(await ask().catch(() => "")).includes(`name ${round}.`)) await delay(1);
    if (round > WARM_UP) millis.push(performance.now() - savedAt);
  }
  return summarise(millis);
}

function save(into: BenchHome, round: number): Promise<void> {
  return into.write("lamp/name.ts", `export const name: string = "name ${round}.";\n`);
}

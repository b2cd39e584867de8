// npm run bench start [-- count]: time from the start of the process to the first answer of
// GET /health and to the ready line, with 5 and 20 plugins of ten files with one npm dependency, with
// an empty cache and with a warm one, against the first answer of a bare Koa server run by tsx.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  findFreePort,
  openHome,
  type Served,
  serve,
  serveHost,
  summarise,
  writeLamp,
} from "./house.ts";

const PLUGINS = [5, 20];
const POLL_MS = 2;

const BARE = `
import Koa from "koa";
const [port] = process.argv.slice(2);
new Koa().use((ctx) => { ctx.body = "pass"; }).listen(Number(port), "127.0.0.1", () =>
  console.log("ready http://127.0.0.1:" + port));
`;

type Start = (port: number) => Promise<Served>;

const count = Number(process.argv[2] ?? 5);
const mantel = [];
for (const plugins of PLUGINS) mantel.push(await measureMantel(plugins));
console.log(
  JSON.stringify({ bench: "start", unit: "ms", count, mantel, bareKoa: await measureBare() }),
);

async function measureMantel(plugins: number) {
  const home = await openHome();
  for (let at = 1; at <= plugins; at++) await writeLamp(home, `lamp${at}`);
  const start = (port: number) => serveHost(home, port);
  await timeStart(start); // makes keys and tokens, and warms the system's file cache
  const cold = await timeStarts(start, () => rm(join(home.data, "cache"), { recursive: true }));
  const warm = await timeStarts(start, async () => undefined);
  await home.remove();
  return { plugins, cold, warm };
}

async function measureBare() {
  const home = await openHome();
  await home.write("bare.ts", BARE);
  const start = (port: number) =>
    serve(["--import", "tsx", `${home.plugins}/bare.ts`, String(port)]);
  await timeStart(start);
  const { health } = await timeStarts(start, async () => undefined);
  await home.remove();
  return { health };
}

async function timeStarts(start: Start, prepare: () => Promise<void>) {
  const times = [];
  for (let round = 0; round < count; round++) {
    await prepare();
    times.push(await timeStart(start));
  }
  return {
    health: summarise(times.map(({ health }) => health)),
    ready: summarise(times.map(({ ready }) => ready)),
  };
}

/** Starts and stops a server. */
async function timeStart(start: Start): Promise<{ health: number; ready: number }> {
  const port = await findFreePort();
  const startedAt = performance.now();
  const elapsed = (): number => performance.now() - startedAt;
  const [health, [server, ready]] = await Promise.all([
    answers(`http://127.0.0.1:${port}/api/v1/health`).then(elapsed),
    start(port).then((each) => [each, elapsed()] as const),
  ]);
  await server.stop();
  return { health, ready };
}

async function answers(url: string): Promise<void> {
  while (!(await isOk(url))) await delay(POLL_MS);
}

function isOk(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false, // nobody listens yet
  );
}

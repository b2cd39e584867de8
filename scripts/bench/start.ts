// npm run bench start [-- count]: the time from the start of the process to the first answer of GET /health and to the
// ready line, with 5 and 20 plugins of ten files with one npm dependency, with an empty and a warm cache. Compared with
// the first answer of a bare Koa server run by tsx, and of servers that load the same files in other ways.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../test/helpers/free-port.ts";
import { openHome, type Served, serve, serveHost, writeLamp } from "./bench-home.ts";
import { alternatives, type StartAlternative } from "./shared/alternatives.ts";
import { ratios, summarise, type Summary } from "./shared/figures.ts";

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
const mantel: Awaited<ReturnType<typeof measureMantel>>[] = [];
for (const plugins of PLUGINS) mantel.push(await measureMantel(plugins));
const bareKoa = await measureBare();
const others = [];
for (const plugins of PLUGINS) others.push({ plugins, ...(await measureOthers(plugins)) });
console.log(JSON.stringify({ bench: "start", unit: "ms", count, mantel, bareKoa, others }));

/** These servers print their ready line with the first answer, so compare it with Mantel's ready line. */
async function measureOthers(plugins: number) {
  const home = await openHome();
  const lamps = Array.from({ length: plugins }, (_, at) => `lamp${at + 1}`);
  for (const lamp of lamps) await writeLamp(home, lamp);
  const measured: Record<string, Summary> = {};
  for (const [name, start] of Object.entries(await alternatives(home, lamps))) {
    await timeReady(start);
    const times: number[] = [];
    for (let round = 0; round < count; round++) times.push(await timeReady(start));
    measured[name] = summarise(times);
  }
  await home.remove();
  const ready = mantel.find((each) => each.plugins === plugins)?.cold.ready.p50 ?? 0;
  return { ready: measured, timesMantelCold: ratios(measured, ({ p50 }) => p50 / ready) };
}

async function timeReady(start: StartAlternative): Promise<number> {
  const startedAt = performance.now();
  const server = await start();
  const ms = performance.now() - startedAt;
  await server.stop();
  return ms;
}

async function measureMantel(plugins: number) {
  const home = await openHome();
  for (let at = 1; at <= plugins; at++) await writeLamp(home, `lamp${at}`);
  const start = (port: number) => serveHost(home, port);
  await timeStart(start); // creates keys and tokens, and fills the system's file cache
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
  const port = await freePort();
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
    () => false, // the server does not listen yet
  );
}

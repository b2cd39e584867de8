// npm run bench http [-- seconds]: answers a second over 50 connections, of the host, of a Koa app of one line and of bare
// node:http, which send the same bodies, in turns in the same run, each for so many seconds; and commands, one at a time
// and 2,000 a second.
import { type BenchHome, openHome, type Served, serve, serveHost } from "./bench-home.ts";
import { lampId, STORM, writeBenchBridges } from "./shared/bench-bridge.ts";
import { median, summarise } from "./shared/figures.ts";
import { Connections, type Loaded, loadServer } from "./shared/http-load.ts";

const DEVICES = 1_000;
const SCENES = 20;
const CONNECTIONS = 50;
/** Short ones, because the speed of a machine may change from second to second. */
const ROUNDS = 15;
const COMMANDS = 3_000;
const COMMANDED = 100;
const COMMANDS_PER_SECOND = 2_000;
const CHANGES_PER_SECOND = 100;

const PATHS = {
  list: "/api/v1/smart-home/devices",
  device: "/api/v1/smart-home/devices/bench0:light:2",
  health: "/api/v1/health",
  system: "/api/v1/system",
  scenes: "/api/v1/smart-home/scenes",
};
/** Bodies by path, from a file; with If-None-Match it answers 304. */
const PRELUDE = `
import { readFileSync } from "node:fs";
const bodies = new Map(Object.entries(JSON.parse(readFileSync(process.argv[2], "utf8")))
  .map(([path, text]) => [path, Buffer.from(text)]));
const ready = (server) => server.listen(0, "127.0.0.1", () =>
  console.log("ready http://127.0.0.1:" + server.address().port));
`;
const BARE = `
import { createServer } from "node:http";${PRELUDE}
ready(createServer((request, response) => {
  if (request.headers["if-none-match"] === '"1"') return response.writeHead(304, { ETag: '"1"' }).end();
  const body = bodies.get(request.url);
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": body.length });
  response.end(body);
}));
`;
const KOA = `
import { createServer } from "node:http";
import Koa from "koa";${PRELUDE}
const app = new Koa();
app.use((ctx) => {
  if (ctx.get("If-None-Match") === '"1"') { ctx.set("ETag", '"1"'); ctx.status = 304; return; }
  ctx.body = bodies.get(ctx.path); ctx.type = "json";
});
ready(createServer(app.callback()));
`;

interface Servers {
  readonly mantel: Served;
  readonly koa: Served;
  readonly bare: Served;
}

/** One question: the same path at all three, with what the host is asked beyond it. */
interface Question {
  readonly path: string;
  readonly isConditional?: boolean;
}

const forMs = Number(process.argv[2] ?? 6) * 1_000;
const home = await openHome(["system"]);
await writeBenchBridges(home, DEVICES);
const mantel = await serveHost(home);
const api = clientOf(mantel);
for (let at = 0; at < SCENES; at++) {
  const targets = { [lampId(1)]: { on: true, brightness: at } };
  const body = { name: `Scene ${at}`, targets };
  await api("PUT", `/api/v1/smart-home/scenes/host:scene:scene-${at}`, body);
}
const servers: Servers = { mantel, ...(await startOthers(home)) };
const answers: Record<string, unknown> = {};
for (const [name, path] of Object.entries(PATHS)) answers[name] = await compare(servers, { path });
answers["list, not changed"] = await compare(servers, { path: PATHS.list, isConditional: true });
await api("POST", `/api/v1/smart-home/devices/${STORM}/command`, { rate: CHANGES_PER_SECOND });
answers[`list, ${CHANGES_PER_SECOND} changes a second`] = await compare(servers, {
  path: PATHS.list,
});
await api("POST", `/api/v1/smart-home/devices/${STORM}/command`, { rate: 0 });
const connections = new Connections(mantel.url, CONNECTIONS);
const oneAtATime = await timeCommands();
const sustained = await sendCommands();
connections.close();
for (const { stop } of Object.values(servers) as Served[]) await stop();
await home.remove();
const commands = { oneAtATimeMs: oneAtATime, sustained };
console.log(JSON.stringify({ bench: "http", connections: CONNECTIONS, answers, commands }));

/** Starts the other two with the host's bodies. */
async function startOthers({ plugins, write }: BenchHome): Promise<Omit<Servers, "mantel">> {
  const bodies: Record<string, string> = {};
  for (const path of Object.values(PATHS)) bodies[path] = await api("GET", path);
  await write("bodies.json", JSON.stringify(bodies));
  await write("bare.mjs", BARE);
  await write("koa.mjs", KOA);
  const start = (file: string) => serve([`${plugins}/${file}`, `${plugins}/bodies.json`]);
  return { koa: await start("koa.mjs"), bare: await start("bare.mjs") };
}

/** Medians of rounds in turns, and of the host's share of the others' rate in each round. */
async function compare(
  all: Servers,
  { path, isConditional = false }: Question,
): Promise<Record<string, unknown>> {
  const rounds: Record<keyof Servers, Loaded[]> = { mantel: [], koa: [], bare: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of ["mantel", "koa", "bare"] as const) {
      const { url, pid, token } = all[name];
      const headers: Record<string, string> = { Authorization: `Bearer ${token || mantel.token}` };
      if (isConditional) headers["If-None-Match"] = name === "mantel" ? await tagOf(path) : '"1"';
      const asked = { url, pid, path, headers, status: isConditional ? 304 : 200 };
      const loaded = await loadServer(asked, {
        connections: CONNECTIONS,
        forMs: forMs / ROUNDS,
      });
      if (round > 0) rounds[name].push(loaded);
    }
  }
  const [own, koa, bare] = [rounds.mantel, rounds.koa, rounds.bare].map(medians);
  const result = {
    ...{ mantel: own, koa, bare },
    ofKoa: shareOf(rounds.mantel, rounds.koa),
    ofBare: shareOf(rounds.mantel, rounds.bare),
  };
  process.stderr.write(`${path}${isConditional ? " 304" : ""} ${JSON.stringify(result)}\n`);
  return result;
}

function medians(rounds: readonly Loaded[]) {
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50: median(rounds.map(({ ms }) => ms.p50)),
    p99: median(rounds.map(({ ms }) => ms.p99)),
    cpuMicros: median(rounds.map(({ cpuMicros }) => cpuMicros)),
  };
}

/** The medians of one server's figures in parts of another's. */
function shareOf(own: readonly Loaded[], others: readonly Loaded[]) {
  const medianOf = (ratio: (mine: Loaded, other: Loaded) => number): number => {
    const ratios = own.flatMap((mine, at) => {
      const other = others[at];
      return other ? [ratio(mine, other)] : [];
    });
    return Math.round(median(ratios) * 100) / 100;
  };
  return {
    rate: medianOf((mine, other) => mine.perSecond / other.perSecond),
    cpu: medianOf((mine, other) => other.cpuMicros / mine.cpuMicros),
    p99: medianOf((mine, other) => mine.ms.p99 / other.ms.p99),
  };
}

/** The entity tag of an answer now. */
async function tagOf(path: string): Promise<string> {
  const headers = { authorization: `Bearer ${mantel.token}` };
  const response = await fetch(mantel.url + path, { headers });
  await response.arrayBuffer();
  return response.headers.get("etag") ?? "";
}

/** Sends JSON; resolves with the body of a 2xx answer. */
function clientOf({ url, token }: Served) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return async (method: string, path: string, body?: object): Promise<string> => {
    const json = body && JSON.stringify(body);
    const response = await fetch(url + path, { method, headers, ...(json && { body: json }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  };
}

async function command(at: number): Promise<number> {
  const path = `/api/v1/smart-home/devices/${lampId(at % COMMANDED)}/command`;
  const headers = { Authorization: `Bearer ${mantel.token}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ brightness: at % 101 });
  const startedAt = performance.now();
  await connections.send({ path, headers, body, status: 200 });
  return performance.now() - startedAt;
}

/** From the request to the answer, which the bridge's process has confirmed. */
async function timeCommands() {
  const waits: number[] = [];
  for (let at = 0; at < COMMANDS; at++) waits.push(await command(at));
  return precise(waits.slice(COMMANDS / 10));
}

async function sendCommands() {
  const waits: Promise<number>[] = [];
  const startedAt = performance.now();
  const lasts = Math.max(5_000, forMs);
  while (performance.now() - startedAt < lasts) {
    const due = ((performance.now() - startedAt) / 1_000) * COMMANDS_PER_SECOND;
    while (waits.length < due) waits.push(command(waits.length));
    await new Promise((done) => setTimeout(done, 1));
  }
  const all = await Promise.allSettled(waits);
  const ok = all.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const perSecond = Math.round((ok.length / (performance.now() - startedAt)) * 1_000);
  return { perSecond, failed: all.length - ok.length, ms: precise(ok) };
}

/** With two decimals: commands take less than a millisecond. */
function precise(waits: readonly number[]) {
  const { p50, p95, p99, max } = summarise(waits.map((each) => each * 10));
  const shown = (tenths: number): number => Math.round(tenths * 10) / 100;
  return { p50: shown(p50), p95: shown(p95), p99: shown(p99), max: shown(max) };
}

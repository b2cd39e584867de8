// npm run bench streams [-- streams] [changes a second]: the processor time and memory of the host with many event
// streams, and the time from a change in a plugin's process to a stream; and of a bare node:http server that writes texts
// of the same length to as many streams at the same rate.
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import {
  type BenchHome,
  openHome,
  readMemory,
  type Served,
  serve,
  serveHost,
} from "./bench-home.ts";
import { STORM, writeBenchBridges } from "./shared/bench-bridge.ts";
import { rounded, summarise } from "./shared/figures.ts";
import { cpuSeconds } from "./shared/http-load.ts";

const DEVICES = 400;
const STREAMS_OF_A_TOKEN = 25;
const MEASURED_MS = 10_000;
const SETTLE_MS = 3_000;
/** The plugin writes its clock into a state, modulo this. */
const CLOCK = 100_001;

const BARE = `
import { createServer } from "node:http";
const [perSecond, bytes] = process.argv.slice(2).map(Number);
const responses = new Set();
const server = createServer((request, response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.flushHeaders();
  responses.add(response);
});
let sent = 0;
const startedAt = performance.now();
setInterval(() => {
  const due = ((performance.now() - startedAt) / 1000) * perSecond;
  for (; sent < due; sent++) {
    const start = 'data: {"rate":' + ((Date.now() % 1e8) % ${CLOCK}) + "}";
    const text = start.padEnd(bytes - 2, " ") + "\\n\\n";
    for (const response of responses) response.write(text);
  }
}, 2);
server.listen(0, "127.0.0.1", () => console.log("ready http://127.0.0.1:" + server.address().port));
`;

const [streams = 500, perSecond = 200] = process.argv.slice(2).map(Number);
const home = await openHome();
const { own, bytesOfAnEvent } = await measureHost(home);
const bare = await measureBare(home, bytesOfAnEvent);
await home.remove();
console.log(
  JSON.stringify({ bench: "streams", streams, perSecond, bytesOfAnEvent, mantel: own, bare }),
);

async function measureHost(opened: BenchHome) {
  await writeBenchBridges(opened, DEVICES);
  const host = await serveHost(opened);
  const tokens = await makeTokens(host);
  await sendRate(host, perSecond); // so that all code has run before memory is read
  await delay(SETTLE_MS);
  await sendRate(host, 0);
  const before = await settledMemory(host.pid);
  const path = "/api/v1/events?topics=device.state";
  const sockets = openStreams(host, (at) => ({ path, token: tokens[at % tokens.length] ?? "" }));
  const after = await settledMemory(host.pid);
  await sendRate(host, perSecond);
  const measured = await measure(host.pid, sockets);
  const kBOfAStream = rounded(((after - before) * 1_024) / streams);
  await host.stop();
  const { figures, bytes, events } = measured;
  return { own: { ...figures, kBOfAStream }, bytesOfAnEvent: Math.round(bytes / events) };
}

async function measureBare({ plugins, write }: BenchHome, bytes: number) {
  await write("bare.mjs", BARE);
  const server = await serve([`${plugins}/bare.mjs`, String(perSecond), String(bytes)]);
  const sockets = openStreams(server, () => ({ path: "/", token: "" }));
  await delay(SETTLE_MS);
  const { figures } = await measure(server.pid, sockets);
  await server.stop();
  return figures;
}

/** The memory of a process after pauses in which it may collect garbage, in MiB. */
async function settledMemory(pid: number): Promise<number> {
  await delay(SETTLE_MS);
  return (await readMemory(pid)).pss;
}

interface Streams {
  /** The bytes and events that the first stream received, and the waits of its events in ms. */
  readonly first: { bytes: number; waits: number[] };
  readonly received: { bytes: number };
  readonly close: () => void;
}

function openStreams(
  { url }: Served,
  request: (at: number) => { path: string; token: string },
): Streams {
  const first = { bytes: 0, waits: [] as number[] };
  const received = { bytes: 0 };
  const sockets = Array.from({ length: streams }, (_, at) => {
    const { path, token } = request(at);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    socket.on("data", (chunk: Buffer) => {
      received.bytes += chunk.length;
      if (at !== 0) return;
      first.bytes += chunk.length;
      const now = Date.now() % 1e8;
      for (const [, clock] of chunk.toString("latin1").matchAll(/"rate":(\d+)\}/g)) {
        first.waits.push((now - Number(clock) + 1_000 * CLOCK) % CLOCK);
      }
    });
    return socket.on("error", () => undefined);
  });
  return { first, received, close: () => sockets.forEach((socket) => socket.destroy()) };
}

async function measure(pid: number, { first, received, close }: Streams) {
  await delay(SETTLE_MS);
  Object.assign(first, { bytes: 0, waits: [] });
  received.bytes = 0;
  const cpuBefore = await cpuSeconds(pid);
  const startedAt = performance.now();
  await delay(MEASURED_MS);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuPercent = rounded((((await cpuSeconds(pid)) - cpuBefore) / seconds) * 100);
  const { bytes, waits } = first;
  const streamsFed = rounded(received.bytes / bytes);
  close();
  return {
    bytes,
    events: waits.length,
    figures: {
      cpuPercent,
      eventsPerSecond: rounded(waits.length / seconds),
      streamsFed,
      changeToStreamMs: summarise(waits),
    },
  };
}

async function makeTokens(host: Served): Promise<string[]> {
  const tokens: string[] = [];
  for (let at = 0; at * STREAMS_OF_A_TOKEN < streams; at++) {
    const body = { name: `stream-${at}`, scope: ["read"], ttlSeconds: 3_600 };
    const { token } = (await ask(host, "/tokens", body)) as { token: string };
    tokens.push(token);
  }
  return tokens;
}

async function sendRate(host: Served, rate: number): Promise<void> {
  await ask(host, `/smart-home/devices/${STORM}/command`, { rate });
}

async function ask({ url, token }: Served, path: string, body: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}/api/v1${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

// npm run bench network [-- connections] [MiB]: compares a plugin's process that connects directly with one that connects
// through the host: time to connect, round trip of 100 bytes, throughput with 1 and with 64 connections, and the load of
// 64 connections on the host (CPU and event loop delay). The server runs in a separate process.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Network } from "@mantel/plugin-sdk/protocol";
import { Compiler } from "../../host/modules/build/compile.ts";
import { compileRuntime } from "../../host/modules/build/runtime.ts";
import { PluginProcess } from "../../host/modules/process/plugin-process.ts";
import { Kernel } from "../../host/modules/process/sandbox/kernel.ts";
import { openHome } from "./bench-home.ts";
import { rounded, type Summary, summarise } from "./shared/figures.ts";

const DEADLINE_MS = 300_000;
const MANY = 64;
const HOSTS = ["127.0.0.1"];

const PLUGIN = `
import { definePlugin, defineService, provide, Type } from "@mantel/plugin-sdk";
import { once } from "node:events";
import net from "node:net";

const connect = async (port) => {
  const socket = net.connect(port, "127.0.0.1").setNoDelay(true);
  await once(socket, "connect");
  return socket;
};
const work = {
  async connections(port, count) {
    const micros = [];
    for (let at = 0; at < count; at++) {
      const startedAt = performance.now();
      const socket = await connect(port);
      micros.push((performance.now() - startedAt) * 1_000);
      socket.destroy();
    }
    return micros;
  },
  async roundTrips(port, count) {
    const socket = await connect(port);
    const micros = [];
    for (let at = 0; at < count; at++) {
      const startedAt = performance.now();
      socket.write(Buffer.alloc(100));
      for (let left = 100; left > 0; left -= (await once(socket, "data"))[0].length);
      micros.push((performance.now() - startedAt) * 1_000);
    }
    socket.destroy();
    return micros;
  },
  async send(port, mebibytes, connections) {
    const block = Buffer.alloc(65_536);
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: connections }, async () => {
      const socket = await connect(port);
      for (let left = (mebibytes * 16) / connections; left > 0; left--) {
        if (!socket.write(block)) await once(socket, "drain");
      }
      socket.end();
      await once(socket.resume(), "close");
    }));
    return [performance.now() - startedAt];
  },
};

const service = defineService("broker.address", { input: Type.Unknown(), output: Type.Unknown() });
export default definePlugin({
  start: () => ({
    services: [provide(service, async ({ name, args }) => work[name](...args))],
  }),
});
`;
/** An echo server and a server that only reads. */
const SERVERS = `
const net = require("node:net");
const serve = (each) => new Promise((resolve) => {
  const server = net.createServer({ noDelay: true }, (socket) => each(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1", () => resolve(server.address().port));
});
Promise.all([serve((socket) => socket.pipe(socket)), serve((socket) => socket.resume())])
  .then((ports) => process.send(ports));
`;

interface Figures {
  readonly connectMicros: Summary;
  readonly roundTripMicros: Summary;
  readonly oneConnectionMiBPerSecond: number;
  readonly manyConnectionsMiBPerSecond: number;
  /** The host's load while many connections send at full speed. */
  readonly host: { readonly cpuPercent: number; readonly loopDelayMs: Summary };
}

const [count = 1_000, mebibytes = 512] = process.argv.slice(2).map(Number);
const home = await openHome();
await home.write("sender/index.ts", PLUGIN);
await home.write("servers.cjs", SERVERS);
const servers = fork(join(home.plugins, "servers.cjs"), { execArgv: [] });
const [[echo, sink]] = (await once(servers, "message")) as [[number, number]];
const compiler = new Compiler(join(home.data, "cache"));
const { bundle } = await compiler.compile("sender", join(home.plugins, "sender"), "index.ts");
await compiler.close();
const runtime = await compileRuntime(join(home.data, "cache"));
const direct = await measure("open");
const throughTheHost = await measure("proxied");
servers.kill();
await home.remove();
console.log(
  JSON.stringify({
    bench: "network",
    count,
    mebibytes,
    connections: MANY,
    direct,
    throughTheHost,
    addedMicros: {
      connection: rounded(throughTheHost.connectMicros.p50 - direct.connectMicros.p50),
      roundTrip: rounded(throughTheHost.roundTripMicros.p50 - direct.roundTripMicros.p50),
    },
  }),
);

async function measure(network: Network): Promise<Figures> {
  const generation = await start(network);
  const ask = async (name: string, ...args: number[]): Promise<number[]> => {
    const input = { name: "broker.address", input: { name, args } };
    return (await generation.peer.call("callService", input, DEADLINE_MS)) as number[];
  };
  const rate = async (connections: number): Promise<number> => {
    const [tookMs = 0] = await ask("send", sink, mebibytes, connections);
    return rounded((mebibytes / tookMs) * 1_000);
  };
  await ask("connections", echo, count / 10); // warm-up
  const connectMicros = summarise(await ask("connections", echo, count));
  const roundTripMicros = summarise(await ask("roundTrips", echo, count));
  const oneConnectionMiBPerSecond = await rate(1);
  const watch = watchHost();
  const manyConnectionsMiBPerSecond = await rate(MANY);
  const figures = { oneConnectionMiBPerSecond, manyConnectionsMiBPerSecond, host: watch() };
  await generation.terminate();
  return { connectMicros, roundTripMicros, ...figures };
}

function watchHost(): () => Figures["host"] {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const before = process.cpuUsage();
  const startedAt = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(before);
    const at = (percentile: number) => rounded(delay.percentile(percentile) / 1e6);
    return {
      cpuPercent: rounded((user + system) / 10 / (performance.now() - startedAt)),
      loopDelayMs: { p50: at(50), p95: at(95), p99: at(99), max: rounded(delay.max / 1e6) },
    };
  };
}

async function start(network: Network): Promise<PluginProcess> {
  const sandbox = { readable: [], writable: [], hasOpenNetwork: true, hasPrograms: false };
  const settings = {
    memoryMiB: 64,
    cpuPercent: 400,
    childProcesses: false,
    folder: home.data,
    flags: [],
    sandbox,
    network,
    hosts: HOSTS,
  };
  const reason = "only the network is measured";
  const kernel = new Kernel({ bubblewrap: undefined, reason, remedy: "" });
  const generation = PluginProcess.fork(runtime, settings, kernel);
  const { peer } = generation;
  const code = { id: "sender", folder: join(home.plugins, "sender"), bundle, vendor: undefined };
  const folders = { compiled: home.data, dataFolder: home.data };
  const permissions = { hosts: HOSTS };
  await peer.call("load", { ...code, ...folders, permissions, network }, DEADLINE_MS);
  const request = {
    config: {},
    home: { locale: "en-GB", timeZone: "UTC", pollSeconds: 30 },
    storage: home.data,
    folders: {},
    uses: [],
  };
  await peer.call("start", request, DEADLINE_MS);
  return generation;
}

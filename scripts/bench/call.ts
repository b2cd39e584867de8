// npm run bench call [-- count]: round trip of a command and of a service call with an answer of 20 kB. Compares a
// plugin in its own process with a worker thread and with the same plugin in this process (also the way of a version
// query and a tsx namespace). `node --watch` is not compared, because its plugins are part of the server.
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { defineService, type Plugin, Type } from "@mantel/plugin-sdk";
import type { HostApi, PluginApi } from "@mantel/plugin-sdk/protocol";
import { type Handlers, Peer } from "@mantel/plugin-sdk/rpc";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { Compiler } from "../../host/modules/build/compile.ts";
import { compileRuntime } from "../../host/modules/build/runtime.ts";
import { PluginProcess } from "../../host/modules/process/plugin-process.ts";
import { Kernel } from "../../host/modules/process/sandbox/kernel.ts";
import { openHome } from "./bench-home.ts";
import { ratios, summarise } from "./shared/figures.ts";

const WARM_UP = 1_000;
const AT_ONCE = 100;
const DEADLINE_MS = 10_000;
const EVENTS = 100;

const ANSWER = JSON.stringify(
  Array.from({ length: EVENTS }, (_, at) => ({ title: `event ${at} `.padEnd(180, "x"), at })),
);
const PLUGIN = `
import { definePlugin, defineService, provide, Type } from "@mantel/plugin-sdk";
const answer = ${ANSWER};
const service = defineService("bench.answer", { input: Type.Unknown(), output: Type.Unknown() });
export default definePlugin({
  start: () => ({
    command: async () => undefined,
    services: [provide(service, async () => answer)],
  }),
});
`;
const THREAD = `
const { parentPort } = require("node:worker_threads");
const answer = ${ANSWER};
parentPort.on("message", ({ call, method }) => {
  parentPort.postMessage({ kind: "answer", call, value: method === "command" ? undefined : answer });
});
`;

const COMMAND = { nativeId: "lamp", command: { on: true, brightness: 62 }, commandId: "1" };
const answer = defineService("bench.answer", { input: Type.Unknown(), output: Type.Unknown() });
const CALL = {
  name: answer.name,
  input: { start: "2025-01-01", end: "2025-02-01" },
} as const;

/** The two measured calls, for each implementation. */
interface Answering {
  readonly command: () => Promise<unknown>;
  readonly service: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

const count = Number(process.argv[2] ?? 5_000);
const home = await openHome();
await home.write("echo/index.ts", PLUGIN);
const ownProcess = await measure(await openProcess());
const workerThread = await measure(openThread());
const inProcess = await measure(await openHere());
await home.remove();
console.log(
  JSON.stringify({
    bench: "call",
    unit: "µs",
    count,
    ownProcess,
    workerThread,
    inProcess,
    nodeWatch: "left out: it has no plugins to call",
    timesOwnProcess: ratios(
      { workerThread, inProcess },
      (other) => other.command.p50 / ownProcess.command.p50,
    ),
  }),
);

async function openProcess(): Promise<Answering> {
  const compiler = new Compiler(join(home.data, "cache"));
  const folder = join(home.plugins, "echo");
  const { bundle, vendor } = await compiler.compile("echo", folder, "index.ts");
  await compiler.close();
  const runtime = await compileRuntime(join(home.data, "cache"));
  const settings = {
    memoryMiB: 64,
    cpuPercent: 100,
    childProcesses: false,
    folder: home.data,
    flags: [],
    sandbox: { readable: [], writable: [], hasOpenNetwork: true, hasPrograms: false },
    network: "none" as const,
    hosts: [],
  };
  const kernel = new Kernel({
    bubblewrap: undefined,
    reason: "only the channel is measured",
    remedy: "",
  });
  const generation = PluginProcess.fork(runtime, settings, kernel);
  const { peer } = generation;
  const code = { id: "echo", folder, bundle, vendor, permissions: {}, network: "none" as const };
  const folders = { compiled: home.data, dataFolder: home.data };
  await peer.call("load", { ...code, ...folders }, DEADLINE_MS);
  const request = {
    config: {},
    home: { locale: "en-GB", timeZone: "UTC", pollSeconds: 30 },
    storage: home.data,
    folders: {},
    uses: [],
  };
  await peer.call("start", request, DEADLINE_MS);
  return { ...through(peer), end: () => generation.terminate() };
}

function openThread(): Answering {
  const worker = new Worker(THREAD, { eval: true });
  const transport = {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    send: (message: unknown) => worker.postMessage(message),
    onMessage: (receive: (message: unknown) => void) => void worker.on("message", receive),
  };
  const peer = new Peer<PluginApi, HostApi>(transport, {} as Handlers<HostApi>);
  return { ...through(peer), end: () => worker.terminate() };
}

function through(peer: Peer<PluginApi, HostApi>): Pick<Answering, "command" | "service"> {
  return {
    command: () => peer.call("command", COMMAND, DEADLINE_MS),
    service: () => peer.call("callService", CALL, DEADLINE_MS),
  };
}

async function openHere(): Promise<Answering> {
  const code = (await import(join(home.plugins, "echo/index.ts"))) as { default: Plugin };
  const plugin = await startPlugin(code.default);
  return {
    command: () => plugin.command(COMMAND.nativeId, COMMAND.command),
    service: () => plugin.call(answer, CALL.input),
    end: () => plugin.stop(),
  };
}

async function measure({ command, service, end }: Answering) {
  const figures = {
    command: await timeEach(command),
    commandsPerSecond: await ratePerSecond(command),
    service: await timeEach(service),
  };
  await end();
  return figures;
}

/** Microseconds per call, one call at a time. */
async function timeEach(call: () => Promise<unknown>) {
  const micros: number[] = [];
  for (let round = 0; round < WARM_UP + count; round++) {
    const startedAt = performance.now();
    await call();
    if (round >= WARM_UP) micros.push((performance.now() - startedAt) * 1_000);
  }
  return summarise(micros);
}

/** Calls per second with a constant number of calls in flight. */
async function ratePerSecond(call: () => Promise<unknown>): Promise<number> {
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return Math.round((count / (performance.now() - startedAt)) * 1_000);
}

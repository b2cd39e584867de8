// npm run bench small-machine [-- rounds [cgroup | systemd-run | taskset]]: the shipped plugins and a bridge of 100 lamps
// on half a core and 512 MiB: starts until the ready line, reloads of the bridge, a slider that is moved for ten seconds.
// Fails if a median is above its bound, a command failed or a plugin was ended. Other load on the machine takes little of
// the half core of a cgroup, which has the highest weight, and of this client, which as root has a higher priority.
import { constants, cpus, loadavg, setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import shipped from "../../plugins/shipped.json" with { type: "json" };
import {
  findDescendants,
  openHome,
  readMemory,
  requestAtRate,
  type Served,
  serve,
} from "./bench-home.ts";
import { lampId, writeBenchBridges } from "./shared/bench-bridge.ts";
import { BenchClient } from "./shared/bench-client.ts";
import { rounded, summarise } from "./shared/figures.ts";
import { openSmallMachine } from "./shared/small-machine.ts";

const SIZE = { cores: 0.5, mebibytes: 512 };
const LAMPS = 100;
const STARTS = 3;
const SLIDER = { perSecond: 20, forMs: 10_000 };
const SETTLE_MS = 10_000;
const BOUNDS = { readyMs: 6_000, reloadMs: 200 };

/** States of a module that was not ended: it runs, or has nothing to do in this home. */
const RUNS = ["active", "degraded", "disabled", "unconfigured"];

interface Module {
  readonly id: string;
  readonly state: string;
  readonly restarts: number;
  readonly error: { readonly message: string } | null;
}

const [, , rounds = 20, way] = process.argv;
if (process.getuid?.() === 0) setPriority(constants.priority.PRIORITY_HIGH);
const machine = openSmallMachine(SIZE, way);
const home = await openHome(shipped);
await writeBenchBridges(home, LAMPS, 1);
const { ms: firstMs, served: first } = await start();
await first.stop();
const starts: number[] = [];
let served: Served | undefined;
for (let round = 0; round < STARTS; round++) {
  await served?.stop();
  const started = await start();
  served = started.served;
  starts.push(started.ms);
}
if (!served) throw new Error("no start");
const { pid, url, token } = served;
await delay(SETTLE_MS);
const client = new BenchClient(served);
const reloads: number[] = [];
for (let at = 0; at < Number(rounds) + 3; at++) reloads.push(await client.reload(home, LAMPS, at));
const reload = summarise(reloads.slice(3));
const slider = await moveSlider();
const tree = await Promise.all([pid, ...(await findDescendants(pid))].map(readMemory));
const ended = await endedModules();
await served.stop();
machine.close();
await home.remove();
const figures = { firstReadyMs: rounded(firstMs), ready: summarise(starts), reload, slider };
const memoryMiB = rounded(tree.reduce((sum, { pss }) => sum + pss, 0));
const load = { cores: cpus().length, load: loadavg().map(rounded) };
const about = { bench: "small-machine", unit: "ms", ...SIZE, way: machine.name, machine: load };
console.log(JSON.stringify({ ...about, ...figures, memoryMiB, ended, bounds: BOUNDS }));
const faults = [
  ...(figures.ready.p50 > BOUNDS.readyMs ? ["the start takes too long"] : []),
  ...(reload.p50 > BOUNDS.reloadMs ? ["a reload takes too long"] : []),
  ...(slider.failed > 0 ? ["commands failed"] : []),
  ...ended,
];
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

async function start(): Promise<{ ms: number; served: Served }> {
  const flags = ["--port", "0", "--data", home.data, "--plugins", home.plugins];
  const [program = "", ...args] = machine.command(["sh", "host/start.sh", ...flags]);
  const startedAt = performance.now();
  const started = await serve(args, {}, program);
  return { ms: performance.now() - startedAt, served: started };
}

/** Moves a lamp's slider and checks that the lamp has the last value. */
async function moveSlider() {
  let at = 0;
  const path = `/api/v1/smart-home/devices/${lampId(0)}`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const commands = requestAtRate(SLIDER.perSecond, () => {
    const body = JSON.stringify({ brightness: at++ % 101 });
    return fetch(`${url}${path}/command`, { method: "POST", headers, body });
  });
  await delay(SLIDER.forMs);
  const { asked, failed, merged, ms } = await commands.end();
  const { state } = JSON.parse(await client.ask(`/devices/${lampId(0)}`)) as {
    state: { brightness: number };
  };
  const isLast = state.brightness === (at - 1) % 101;
  return { asked, failed: failed + (isLast ? 0 : 1), merged, ms };
}

/** A sentence for each module that was ended or does not run. */
async function endedModules(): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` };
  const { modules } = (await (await fetch(`${url}/api/v1/modules`, { headers })).json()) as {
    modules: readonly Module[];
  };
  return modules
    .filter(({ state, restarts }) => restarts > 0 || !RUNS.includes(state))
    .map(
      ({ id, state, restarts, error }) =>
        `${id} is ${state} after ${restarts} restarts: ${error?.message}`,
    );
}

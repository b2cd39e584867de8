// npm run bench growth [-- rounds [folder [sizes]]]: memory, start, reload, list, command and event latency of a host with 10,
// 100, 1,000 and 10,000 devices of four bridges, and then with 5, 20, 50 and 100 plugins. Prints the medians with the
// fitted exponent of each (0 is flat, 1 linear) and draws them in growth-devices.svg and growth-plugins.svg.
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findDescendants, openHome, readMemory, serveHost, writeLamp } from "./bench-home.ts";
import { BRIDGES, writeBenchBridges } from "./shared/bench-bridge.ts";
import { BenchClient } from "./shared/bench-client.ts";
import { medianOf, rounded, summarise } from "./shared/figures.ts";
import { cpuSecondsOfAll } from "./shared/http-load.ts";
import { waitUntil } from "./shared/mqtt-home.ts";
import { type Growth, growthPlot, slopeOf } from "./shared/plot.ts";

const DEVICES = [10, 100, 1_000, 10_000];
const PLUGINS = [5, 20, 50, 100];
const STARTS = 3;
const LISTS = 30;
const COMMANDS = 300;
/** Processes have collected their garbage by then. */
const IDLE_MS = 15_000;
const WITHIN_MS = 120_000;
const IMAGES = resolve(import.meta.dirname, "../../docs/images");

const FIGURES = {
  hostMiB: ["Memory of the host", "MiB"],
  allMiB: ["Memory of all processes", "MiB"],
  readyMs: ["Start until ready", "ms"],
  startCpuS: ["Processor time of the start", "s"],
  reloadMs: ["Reload of a bridge", "ms"],
  listMs: ["List of all devices after a change", "ms"],
  commandMs: ["Command until confirmed", "ms"],
  eventMs: ["Change until event", "ms"],
} as const;

interface Size {
  readonly devices: number;
  readonly plugins: number;
}
type Measured = Size & Readonly<Record<keyof typeof FIGURES, number>>;

const rounds = Number(process.argv[2] ?? 15);
const folder = process.argv[3] ?? IMAGES;
/** The number of sizes of each axis, the smallest first. */
const sizes = Number(process.argv[4] ?? 4);
const machine = { cores: cpus().length, load: loadavg().map(rounded) };
const devices: Measured[] = [];
for (const size of DEVICES.slice(0, sizes))
  devices.push(await measure({ devices: size, plugins: BRIDGES + 1 }));
const plugins: Measured[] = [];
for (const size of PLUGINS.slice(0, sizes))
  plugins.push(await measure({ devices: 100, plugins: size }));
await mkdir(folder, { recursive: true });
const slopes = { devices: await draw("devices", devices), plugins: await draw("plugins", plugins) };
console.log(JSON.stringify({ bench: "growth", rounds, machine, devices, plugins, slopes }));

/** Writes the plot and returns the exponents by figure. */
async function draw(axis: keyof Size, all: readonly Measured[]): Promise<Record<string, number>> {
  const growths = Object.entries(FIGURES).map(([key, [title, unit]]): Growth & { key: string } => {
    const points = all.map((each) => [each[axis], each[key as keyof typeof FIGURES]] as const);
    return { key, title, unit, points };
  });
  await writeFile(join(folder, `growth-${axis}.svg`), growthPlot(growths, axis));
  return Object.fromEntries(growths.map(({ key, points }) => [key, slopeOf(points)]));
}

async function measure(size: Size): Promise<Measured> {
  const home = await openHome();
  await writeBenchBridges(home, size.devices);
  for (let at = BRIDGES; at < size.plugins; at++) await writeLamp(home, `lamp${at}`);
  const starts: number[] = [];
  const startCpus: number[] = [];
  let served = await serveHost(home); // fills the cache
  for (let round = 0; round < Math.min(STARTS, rounds); round++) {
    await served.stop();
    const startedAt = performance.now();
    served = await serveHost(home);
    starts.push(performance.now() - startedAt);
    startCpus.push(await cpuSecondsOfAll([served.pid, ...(await findDescendants(served.pid))]));
  }
  const host = new BenchClient(served);
  const count = size.devices + size.plugins - BRIDGES;
  await waitUntil(
    WITHIN_MS,
    async () => (await host.list()).split('"available":true').length > count,
  );
  await delay(IDLE_MS);
  const hostMiB = (await readMemory(served.pid)).pss;
  const others = await Promise.all((await findDescendants(served.pid)).map(readMemory));
  const measured = {
    ...size,
    hostMiB,
    allMiB: rounded(others.reduce((sum, { pss }) => sum + pss, hostMiB)),
    readyMs: summarise(starts).p50,
    startCpuS: summarise(startCpus).p50,
    listMs: await medianOf(LISTS, (at) => host.listAfterChange(at)),
    commandMs: await medianOf(COMMANDS, (at) => host.command(at)),
    eventMs: await host.eventWait(),
    reloadMs: await medianOf(rounds, (at) =>
      host.reload(home, Math.ceil(size.devices / BRIDGES), at),
    ),
  };
  await served.stop();
  await home.remove();
  process.stderr.write(`${JSON.stringify(measured)}\n`);
  return measured;
}

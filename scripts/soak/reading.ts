import { readdir, readFile, rm } from "node:fs/promises";
import { join, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BenchHome, findDescendants, type Served, serve } from "../bench/bench-home.ts";
import { rounded } from "../bench/shared/figures.ts";
import type { HostFigures } from "./probe.ts";

const PROBE = join(import.meta.dirname, "probe.ts");
/** Time until the host is at rest: the next warm process has started, and idle connections are closed. */
const REST_READINGS = 6;
const REST_MS = 1_000;
/** So many of the last readings are also of the host's heap: to count in it takes more than a second of CPU time. */
const HEAP_READINGS = 2;
const PROBE_DEADLINE_MS = 20_000;

/** Figures by name; those of memory end in `MiB`. */
export type Reading = Readonly<Record<string, number>>;

/** A host with the probe in it. */
export async function serveProbed({ plugins, data }: BenchHome): Promise<Served> {
  process.env["SOAK_FIGURES"] = figuresFile(data);
  process.env["GOGC"] = "10"; // otherwise esbuild's memory varies by 30 MiB, which hides growth
  const flags = ["--port", "0", "--data", data, "--plugins", plugins];
  return serve(["--import", "tsx", "--import", PROBE, "host/launch.js", ...flags]);
}

/** The lowest of several readings of the host and its children, which excludes temporary peaks. */
export async function readAtRest(host: Served, home: BenchHome): Promise<Reading> {
  const several: Reading[] = [];
  for (let left = REST_READINGS; left > 0; left--) {
    await delay(REST_MS);
    const counted = left <= HEAP_READINGS ? await readHeap(host, home) : {};
    several.push({ ...(await readHost(host, home)), ...counted });
  }
  const names = Object.keys(several.at(-1) ?? {});
  return Object.fromEntries(
    names.map((name) => [name, Math.min(...several.map((reading) => reading[name] ?? Infinity))]),
  );
}

async function readHeap({ pid }: Served, { data }: BenchHome): Promise<Reading> {
  const { heapBytes, ...counts } = await probe(pid, figuresFile(data));
  return { hostHeapMiB: rounded(heapBytes / 2 ** 20), ...counts };
}

async function readHost({ pid }: Served, { data }: BenchHome): Promise<Reading> {
  const children = await findDescendants(pid);
  const areCompilers = await Promise.all(children.map(isCompiler));
  const memories = await Promise.all(children.map((child) => memoryOf(child, "RssAnon")));
  const descriptors = await Promise.all(
    children.map(async (child) => (await readdir(`/proc/${child}/fd`).catch(() => [])).length),
  );
  return {
    hostRssMiB: await memoryOf(pid, "VmRSS"),
    childrenMiB: rounded(sum(memories)),
    compilersMiB: rounded(sum(memories.filter((_, at) => areCompilers[at]))), // of the children's
    hostDescriptors: (await readdir(`/proc/${pid}/fd`)).length,
    childrenDescriptors: sum(descriptors),
    processes: children.length,
    cacheFiles: (await readdir(join(data, "cache"), { recursive: true })).filter(isCounted).length,
  };
}

async function probe(pid: number, file: string): Promise<HostFigures> {
  await rm(file, { force: true });
  process.kill(pid, "SIGUSR2");
  for (let waitedMs = 0; waitedMs < PROBE_DEADLINE_MS; waitedMs += 20) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text !== "") return JSON.parse(text) as HostFigures;
    await delay(20);
  }
  throw new Error("the host did not write its figures");
}

async function isCompiler(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")) === "esbuild\n";
}

/** A field of proc(5) `status` in MiB. `RssAnon` excludes memory shared with other processes. */
async function memoryOf(pid: number, field: "VmRSS" | "RssAnon"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return rounded(Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) / 1024);
}

function figuresFile(data: string): string {
  return join(data, "..", "figures.json");
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/**
 * False for the record of a build: there is at most one for each module, and none if a file was saved less than a tick
 * of the clock before the build.
 */
function isCounted(path: string): boolean {
  return !path.startsWith(`built${sep}server-`);
}

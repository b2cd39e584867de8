// npm run bench all [-- file [seconds]]: runs every bench with small counts, one after another, and writes one HTML page
// with all tables and plots, by default `benchmarks.html` in the temporary folder. On a quiet machine that takes about ten
// minutes. A bench that takes longer than `seconds` (180) is ended, and the page says so.
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { rounded } from "./shared/figures.ts";
import { type Reported, reportPage } from "./shared/report.ts";

const BENCH = resolve(import.meta.dirname, "../bench.ts");
/** A bench that was asked to end has stopped its host after this time. */
const END_MS = 15_000;
const GROWTH_SIZES = "3";
const LINES_OF_A_FAULT = 6;

const file = resolve(process.argv[2] ?? join(tmpdir(), "benchmarks.html"));
const mostSeconds = Number(process.argv[3] ?? 180);
const images = await mkdtemp(join(tmpdir(), "mantel-bench-images-"));
/** The arguments with which a bench takes about twenty seconds; a bench without a line here runs as it is. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  "automation-saves": ["50", "100"],
  automations: ["5", "20"],
  busy: ["0.2", "2"],
  calendar: ["1", "mantel,node-ical"],
  call: ["500"],
  channels: ["20"],
  dashboard: ["2", "2"],
  "default-home": ["10", "5"],
  details: ["3"],
  drop: ["1"],
  faults: ["1", "^(endless loop|exit)"],
  growth: ["3", images, GROWTH_SIZES],
  "home-assistant": ["5"],
  http: ["1"],
  memory: ["3"],
  mqtt: ["200", "200", "3"],
  network: ["200", "64"],
  recorder: ["5"],
  reload: ["10"],
  services: ["1000"],
  "small-machine": ["5"],
  start: ["1"],
  streams: ["100", "100"],
  widget: ["5"],
  writes: ["0.25"],
  "zigbee-list": ["1"],
};

const names = (await readdir(import.meta.dirname))
  .filter((name) => name.endsWith(".ts") && !["all.ts", "bench-home.ts"].includes(name))
  .map((name) => name.replace(/\.ts$/, ""));
const about = { node: process.version, cores: cpus().length, "load before": load() };
const all: Reported[] = [];
const startedAt = performance.now();
for (const name of names) {
  all.push(await report(name));
  await write(); // so that an interrupted run leaves a page, too
}
const failed = all.filter(({ fault }) => fault !== undefined).map(({ name }) => name);
await rm(images, { recursive: true });
console.log(JSON.stringify({ bench: "all", file, seconds: sinceStart(), failed }));
if (failed.length > 0) process.exitCode = 1;

function load(): string {
  return loadavg().map(rounded).join(", ");
}

function sinceStart(): number {
  return Math.round((performance.now() - startedAt) / 1_000);
}

function write(): Promise<void> {
  const page = reportPage(all, { ...about, "load after": load(), seconds: sinceStart() });
  return writeFile(file, page);
}

async function report(name: string): Promise<Reported> {
  const args = ARGUMENTS[name] ?? [];
  const began = performance.now();
  const { stdout, fault } = await run([name, ...args]);
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stderr.write(`${name}: ${seconds} s${fault === undefined ? "" : `, ${fault}`}\n`);
  const results = stdout.split("\n").flatMap((line) => (line.startsWith("{") ? [parse(line)] : []));
  const command = `npm run bench ${name} -- ${args.join(" ")}`;
  const drawn = name === "growth" ? await readImages() : [];
  return { name, command, seconds, results, images: drawn, ...(fault !== undefined && { fault }) };
}

/** Runs `npm run bench` with these arguments. */
async function run(args: readonly string[]): Promise<{ stdout: string; fault?: string }> {
  const child = spawn(process.execPath, ["--import", "tsx", BENCH, ...args]);
  const told = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => (told[name] += text));
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill("SIGTERM"); // it stops what it has started
  }, mostSeconds * 1_000);
  const stuck = setTimeout(() => child.kill("SIGKILL"), mostSeconds * 1_000 + END_MS);
  const code = await new Promise<number | null>((done) => child.once("close", done));
  clearTimeout(late);
  clearTimeout(stuck);
  const { stdout, stderr } = told;
  if (isLate) return { stdout, fault: `ended after ${mostSeconds} s` };
  if (code === 0) return { stdout };
  return { stdout, fault: stderr.trim().split("\n").slice(-LINES_OF_A_FAULT).join(" | ") };
}

/** A line of another kind is shown as it is. */
function parse(line: string): object {
  try {
    return JSON.parse(line) as object;
  } catch {
    return { line };
  }
}

async function readImages(): Promise<string[]> {
  const files = await readdir(images);
  return Promise.all(files.toSorted().map((name) => readFile(join(images, name), "utf8")));
}

import { spawn } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";

const FOLDER = "coverage";
const WRITTEN = join(FOLDER, "tmp");
/** The reports of c8's settings, and one to compute with. */
const REPORTERS = ["text-summary", "lcovonly", "json-summary"];

/**
 * Lines that must be covered in these files, in percent; c8's settings have the floor for all. Only what the processes
 * of the tests without a browser run is counted, not what they start: most of plugin-sdk/runtime runs in plugins'
 * processes. Parts of the dashboard that only a browser runs are left out in c8's settings.
 */
const FLOORS = [
  { files: /^host\/auth\//, lines: 95 },
  { files: /^host\/dashboard\//, lines: 95 },
  { files: /^host\/modules\//, lines: 85 },
  { files: /^plugin-sdk\/[^/]+\.ts$/, lines: 95 },
  { files: /^plugin-sdk\/rpc\//, lines: 95 },
  { files: /^plugins\/[^/]+-widget\//, lines: 95 },
];

/** The folder of the bundles. */
const BUNDLES = "/node_modules/.cache/mantel-tests/bundle-";

interface Covered {
  readonly lines: { readonly total: number; readonly covered: number };
}

/** The environment in which processes write down what they ran, and the check of all they wrote. */
export interface Coverage {
  readonly env: NodeJS.ProcessEnv;
  /** A summary and an exit code. */
  readonly check: () => Promise<Checked>;
}

interface Checked {
  readonly output: string;
  readonly code: number;
}

export async function startCoverage(): Promise<Coverage> {
  await rm(FOLDER, { recursive: true, force: true });
  return { env: { NODE_V8_COVERAGE: resolve(WRITTEN) }, check };
}

async function check(): Promise<Checked> {
  await leaveOutSourceMaps();
  const { output, code } = await report();
  const { lines, isBelow } = checkFloors(await readSummary());
  return { output: `${output}${lines.join("\n")}\n`, code: isBelow ? 1 : code };
}

/**
 * Node adds the source map of each bundle to what a process wrote, with URLs of its sources, which c8 does not recognise as
 * the files of its settings. Without it c8 reads the map beside the bundle.
 */
async function leaveOutSourceMaps(): Promise<void> {
  for (const name of await readdir(WRITTEN).catch(() => [])) {
    const file = join(WRITTEN, name);
    const { result } = JSON.parse(await readFile(file, "utf8")) as { result: { url: string }[] };
    const kept = result.filter(({ url }) => url.includes(BUNDLES));
    await writeFile(file, JSON.stringify({ result: kept }));
  }
}

/** Merges what all processes wrote, once. */
async function report(): Promise<Checked> {
  const reporters = REPORTERS.map((name) => `--reporter=${name}`);
  const args = ["report", "--exclude-after-remap", ...reporters];
  const child = spawn("node_modules/.bin/c8", args, { stdio: ["ignore", "pipe", "inherit"] });
  const [code, output] = await Promise.all([
    new Promise<number>((done, reject) => {
      child.on("error", reject).on("exit", (status) => done(status ?? 1));
    }),
    text(child.stdout),
  ]);
  return { output, code };
}

async function readSummary(): Promise<[path: string, covered: Covered][]> {
  const summary = await readFile(`${FOLDER}/coverage-summary.json`, "utf8");
  return Object.entries(JSON.parse(summary) as Record<string, Covered>).map(([path, covered]) => [
    relative(".", path),
    covered,
  ]);
}

function checkFloors(summary: readonly [path: string, covered: Covered][]) {
  const percents = FLOORS.map(({ files, lines: floor }) => {
    const found = summary.filter(([path]) => files.test(path)).map(([, { lines }]) => lines);
    const sum = (key: keyof Covered["lines"]) => found.reduce((all, each) => all + each[key], 0);
    return { files, floor, percent: (100 * sum("covered")) / sum("total") };
  });
  const lines = percents.map(({ files, floor, percent }) => {
    const needed = percent >= floor ? "" : `, and ${floor} % are needed`;
    return `${percent.toFixed(2)} % of the lines of ${files.source} are covered${needed}`;
  });
  return { lines, isBelow: percents.some(({ floor, percent }) => !(percent >= floor)) };
}

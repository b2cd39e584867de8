import { spawn } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";

const FOLDER = "coverage";
const WRITTEN = join(FOLDER, "tmp");
/** The reports of c8's settings, and one to compute with. */
const REPORTERS = ["text-summary", "lcovonly", "json-summary"];

/**
 * Lines that must be covered in these files, in percent; c8's settings have the floor for all. Only what the processes
 * of the tests run is counted, not what they start: most of plugin-sdk/runtime runs in plugins' processes. Parts of the
 * dashboard that only a browser runs are left out in c8's settings.
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
  /** Prints a summary and gives an exit code. */
  readonly check: () => Promise<number>;
}

export async function startCoverage(): Promise<Coverage> {
  await rm(FOLDER, { recursive: true, force: true });
  return { env: { NODE_V8_COVERAGE: resolve(WRITTEN) }, check };
}

async function check(): Promise<number> {
  await leaveOutSourceMaps();
  const code = await report();
  const faults = faultsOf(await readSummary());
  for (const fault of faults) console.error(fault);
  return faults.length > 0 ? 1 : code;
}

/**
 * Node adds the source map of each bundle to what a process wrote, with URLs of its sources, which c8 does not recognise as
 * the files of its settings. Without it c8 reads the map beside the bundle.
 */
async function leaveOutSourceMaps(): Promise<void> {
  for (const name of await readdir(WRITTEN)) {
    const file = join(WRITTEN, name);
    const { result } = JSON.parse(await readFile(file, "utf8")) as { result: { url: string }[] };
    const kept = result.filter(({ url }) => url.includes(BUNDLES));
    await writeFile(file, JSON.stringify({ result: kept }));
  }
}

/** Merges what all processes wrote, once. */
function report(): Promise<number> {
  const args = [
    "report",
    "--exclude-after-remap",
    ...REPORTERS.map((name) => `--reporter=${name}`),
  ];
  return new Promise((done, reject) => {
    spawn("node_modules/.bin/c8", args, { stdio: "inherit" })
      .on("error", reject)
      .on("exit", (code) => done(code ?? 1));
  });
}

async function readSummary(): Promise<[path: string, covered: Covered][]> {
  const text = await readFile(`${FOLDER}/coverage-summary.json`, "utf8");
  return Object.entries(JSON.parse(text) as Record<string, Covered>).map(([path, covered]) => [
    relative(".", path),
    covered,
  ]);
}

function faultsOf(summary: readonly [path: string, covered: Covered][]): string[] {
  return FLOORS.flatMap(({ files, lines: floor }) => {
    const found = summary.filter(([path]) => files.test(path)).map(([, { lines }]) => lines);
    const sum = (key: keyof Covered["lines"]) => found.reduce((all, each) => all + each[key], 0);
    const percent = (100 * sum("covered")) / sum("total");
    console.log(`${percent.toFixed(2)} % of the lines of ${files.source} are covered`);
    return percent >= floor
      ? []
      : [`less than ${floor} % of the lines of ${files.source} are covered`];
  });
}

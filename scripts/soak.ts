// npm run soak [-- [reloads] [--failing]]: reloads of one plugin by the real host, under 50 requests a
// second. Prints figures at each tenth of the way, and at the end what has grown since the middle.
// With --failing each new code is wrong in another way, and the old code goes on.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  findChildren,
  nameFile,
  openHome,
  readMemory,
  repeat,
  rounded,
  serveHost,
  summarise,
  writeLamp,
} from "./bench/house.ts";

const REQUESTS_PER_SECOND = 50;
const TENTHS = 10;
const MAX_GROWTH_MIB = 10;
/** The connections of the requests come and go; what each reload left open would soon be more. */
const MAX_GROWTH_DESCRIPTORS = 3;
/** After a tenth the host rests: the next spare starts, and the garbage of the reloads can go. */
const REST_READINGS = 8;
const REST_MS = 500;

/** Ways for new code to be wrong. Each round has its own text, so that none is refused unread. */
const FAULTS = [
  (round: number) => `export const name: string = "${round};\n`,
  (round: number) => `import "no-such-package";\nexport const name: string = "${round}";\n`,
  (round: number) => `export const name: string = "${round}";\nthrow new Error(name);\n`,
  (round: number) => `export const name = { toString() { throw new Error("${round}"); } };\n`,
];

/** What must not grow. Memory is in MiB, and that of the children counts shared pages once. */
interface Reading {
  readonly hostRss: number;
  readonly heap: number;
  readonly childrenPss: number;
  readonly descriptors: number;
  readonly processes: number;
  readonly cacheFiles: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { failing: { type: "boolean", default: false } },
});
const reloads = Number(positionals[0] ?? 10_000);
if (!Number.isInteger(reloads) || reloads < TENTHS) {
  process.stderr.write(`usage: npm run soak -- [reloads, at least ${TENTHS}] [--failing]\n`);
  process.exit(2);
}
const home = await openHome(["system"]);
await writeLamp(home, "lamp");
const mantel = await serveHost(home);
const api = `${mantel.url}/api/v1`;
const headers = { authorization: `Bearer ${mantel.token}`, "content-type": "application/json" };
const patch = { method: "PATCH", headers, body: '{"system":{"sampleSeconds":1}}' };
await fetch(`${api}/config`, patch);

const requests = repeat(REQUESTS_PER_SECOND, () =>
  fetch(`${api}/smart-home/devices/lamp:light:1`, { headers }),
);
const readings: Reading[] = [];
let unexpected = 0;
for (let tenth = 1; tenth <= TENTHS; tenth++) {
  const millis: number[] = [];
  const until = Math.round((reloads * tenth) / TENTHS);
  for (let round = Math.round((reloads * (tenth - 1)) / TENTHS); round < until; round++) {
    millis.push(await reload(round));
  }
  const reading = await readAtRest();
  readings.push(reading);
  console.log(JSON.stringify({ reloads: until, ...reading, reloadMs: summarise(millis) }));
}
const { asked, failed } = await requests.end();
await mantel.stop();
await home.remove();

const growth = growthFrom(readings[TENTHS / 2 - 1], readings[TENTHS - 1]);
const isGrown =
  growth.descriptors > MAX_GROWTH_DESCRIPTORS ||
  growth.processes > 0 ||
  growth.cacheFiles > 0 ||
  growth.hostRss + growth.childrenPss > MAX_GROWTH_MIB;
const isSound = !isGrown && failed === 0 && unexpected === 0;
console.log(
  JSON.stringify({
    ...{ soak: isSound ? "passed" : "failed", reloads, failing: values.failing },
    ...{ growth, requests: { asked, failed }, unexpected },
  }),
);
process.exitCode = isSound ? 0 : 1;

/** Saves new code and reloads it; gives how long the reload took. */
async function reload(round: number): Promise<number> {
  const fault = values.failing ? FAULTS[round % FAULTS.length] : undefined;
  await home.write("lamp/name.ts", fault?.(round) ?? nameFile(`name ${round}.`));
  const startedAt = performance.now();
  const { status } = await fetch(`${api}/modules/lamp/reload`, { method: "POST", headers });
  if (status !== (fault ? 422 : 200)) unexpected++;
  return performance.now() - startedAt;
}

/** The lowest of several readings: what is above it comes and goes. */
async function readAtRest(): Promise<Reading> {
  const several: Reading[] = [];
  for (let left = REST_READINGS; left > 0; left--) {
    await delay(REST_MS);
    several.push(await read());
  }
  const lowest = (figure: keyof Reading): number =>
    Math.min(...several.map((reading) => reading[figure]));
  return {
    hostRss: lowest("hostRss"),
    heap: lowest("heap"),
    childrenPss: lowest("childrenPss"),
    descriptors: lowest("descriptors"),
    processes: lowest("processes"),
    cacheFiles: lowest("cacheFiles"),
  };
}

async function read(): Promise<Reading> {
  const system = (await (await fetch(`${api}/system`, { headers })).json()) as {
    process: { memoryBytes: number; heapBytes: number };
  };
  const children = await findChildren(mantel.pid);
  const memories = await Promise.all(children.map(readMemory));
  return {
    hostRss: rounded(system.process.memoryBytes / 2 ** 20),
    heap: rounded(system.process.heapBytes / 2 ** 20),
    childrenPss: rounded(memories.reduce((sum, { pss }) => sum + pss, 0)),
    descriptors: (await readdir(`/proc/${mantel.pid}/fd`)).length,
    processes: children.length,
    cacheFiles: (await readdir(join(home.data, "cache"), { recursive: true })).length,
  };
}

function growthFrom(middle: Reading | undefined, end: Reading | undefined): Reading {
  if (!middle || !end) throw new Error("there are no readings");
  const grown = (figure: keyof Reading): number => rounded(end[figure] - middle[figure]);
  return {
    hostRss: grown("hostRss"),
    heap: grown("heap"),
    childrenPss: grown("childrenPss"),
    descriptors: grown("descriptors"),
    processes: grown("processes"),
    cacheFiles: grown("cacheFiles"),
  };
}

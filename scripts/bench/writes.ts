// npm run bench writes [-- minutes]: the bytes that the shipped plugins and the host write to the disk in an hour without
// a change of state, scaled from some minutes, and for 10,000 changes of state: at 100 a second, and at one a second,
// scaled as well. Fails above 1 MB in an idle hour. The bytes are `write_bytes` of proc(5), whole pages of 4 KiB.
import { open, readFile, readlink } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import shipped from "../../plugins/shipped.json" with { type: "json" };
import { findDescendants, openHome, serveHost } from "./bench-home.ts";
import { writeBenchBridges, STORM } from "./shared/bench-bridge.ts";
import { BenchClient } from "./shared/bench-client.ts";
import { rounded } from "./shared/figures.ts";

const DEVICES = 100;
const CHANGES = 10_000;
const FAST = 100;
const MOST_IDLE_MB = 1;
/** The builds of a start are written, and the recorder has stored all devices. */
const SETTLE_MS = 30_000;
const MINUTE_MS = 60_000;

/** Bytes by process: `host`, the id of a plugin, or `other`. */
type Written = ReadonlyMap<number, { readonly name: string; readonly bytes: number }>;

const minutes = Number(process.argv[2] ?? 10);
const home = await openHome(shipped);
await writeBenchBridges(home, DEVICES);
const served = await serveHost(home);
await checkCounted(home.plugins);
const client = new BenchClient(served);
await delay(SETTLE_MS);
const idle = await measure(() => delay(minutes * MINUTE_MS), 60 / minutes);
const fast = await change(FAST, Math.min(CHANGES, minutes * 60 * FAST));
const slow = await change(1, minutes * 60);
await served.stop();
await home.remove();
const machine = { cores: cpus().length, load: loadavg().map(rounded) };
const changes = { [`${FAST} a second`]: fast, "1 a second": slow };
console.log(
  JSON.stringify({
    bench: "writes",
    unit: "kB",
    plugins: shipped.length,
    minutes,
    machine,
    idleHour: idle,
    [`${CHANGES} changes`]: changes,
  }),
);
if (idle.all > MOST_IDLE_MB * 1_000) {
  process.stderr.write(`an idle hour writes ${idle.all} kB, more than ${MOST_IDLE_MB} MB\n`);
  process.exitCode = 1;
}

/** Lets `count` states change, and scales the bytes to `CHANGES`. */
function change(perSecond: number, count: number) {
  return measure(async () => {
    await client.ask(`/devices/${STORM}/command`, { rate: perSecond });
    await delay((count / perSecond) * 1_000);
    await client.ask(`/devices/${STORM}/command`, { rate: 0 });
    await delay(5_000); // the recorder stores the last ones
  }, CHANGES / count);
}

/** The kilobytes that are written during `work`, times `factor`, in all and by process; processes with none are absent. */
async function measure(work: () => Promise<unknown>, factor: number) {
  const before = await written();
  await work();
  const by: Record<string, number> = {};
  for (const [pid, { name, bytes }] of await written()) {
    const kB = ((bytes - (before.get(pid)?.bytes ?? 0)) * factor) / 1_000;
    if (kB > 0) by[name] = rounded((by[name] ?? 0) + kB);
  }
  return { all: rounded(Object.values(by).reduce((sum, kB) => sum + kB, 0)), by };
}

async function written(): Promise<Written> {
  const pids = [served.pid, ...(await findDescendants(served.pid))];
  const found = pids.map(
    async (pid) => [pid, { name: await nameOf(pid), bytes: await bytesOf(pid) }] as const,
  );
  return new Map(await Promise.all(found));
}

async function nameOf(pid: number): Promise<string> {
  if (pid === served.pid) return "host";
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => "");
  return /\/plugins\/([^/]+)$/.exec(folder)?.[1] ?? "other";
}

async function bytesOf(pid: number | "self"): Promise<number> {
  const io = await readFile(`/proc/${pid}/io`, "utf8").catch(() => "");
  return Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0);
}

/** @throws Error if the kernel does not count what is written to the folder, for example in memory (tmpfs) */
async function checkCounted(folder: string): Promise<void> {
  const before = await bytesOf("self");
  const file = await open(join(folder, "counted"), "w");
  await file.write(Buffer.alloc(2 ** 20));
  await file.sync();
  await file.close();
  if ((await bytesOf("self")) - before < 2 ** 20)
    throw new Error(`${folder} is not on a disk: set TMPDIR to a folder on a disk`);
}

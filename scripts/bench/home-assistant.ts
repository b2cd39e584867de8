// npm run bench home-assistant [-- seconds]: a Home Assistant with 2,000 sensors and 500 changes a second. Measures the
// time from its message to the event stream, the CPU of host and plugin, and the effects of reloads under this load.
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { FakeHomeAssistant } from "../../test/fakes/home-assistant.ts";
import { findDescendants, openHome, serveHost } from "./bench-home.ts";
import { EventWatch } from "./shared/event-watch.ts";
import { rounded, summarise } from "./shared/figures.ts";

const DEVICES = 2_000;
const PER_SECOND = 500;
const BATCH_MS = 10;
const RELOADS = 3;
const BACK_WITHIN_MS = 15_000;
const TICKS_PER_SECOND = 100;

const seconds = Number(process.argv[2] ?? 20);
const fake = new FakeHomeAssistant();
for (let at = 0; at < DEVICES; at++) fake.set(idOf(at), "0", { unit_of_measurement: "lx" });
await fake.listen();
const home = await openHome(["home-assistant"]);
const served = await serveHost(home);
const sentAt = new Map<string, number>();
const waits: number[] = [];
const watch = new EventWatch(served, ({ topic, data }) => {
  const value = topic === "device.state" && /"state":\{"value":(\d+)/.exec(data)?.[1];
  if (!value) return;
  waits.push(performance.now() - (sentAt.get(value) ?? Number.NaN));
  sentAt.delete(value);
});
await api("/modules/home-assistant/config", { url: fake.url, token: fake.token });
await until(async () => (await devices()).length === DEVICES);

let sequence = 0;
let last = performance.now();
const sending = setInterval(() => {
  for (; last < performance.now(); last += 1_000 / PER_SECOND) {
    const value = String(++sequence);
    sentAt.set(value, performance.now());
    fake.set(idOf(sequence % DEVICES), value, { unit_of_measurement: "lx" });
  }
}, BATCH_MS);
await delay(2_000); // warm-up
waits.length = 0;
const [plugin = 0] = await pluginProcesses();
const before = [await cpuSeconds(served.pid), await cpuSeconds(plugin)];
const startedAt = performance.now();
await delay(seconds * 1_000);
const elapsed = (performance.now() - startedAt) / 1_000;
const after = [await cpuSeconds(served.pid), await cpuSeconds(plugin)];
const [hostCpu, pluginCpu] = after.map((cpu, at) =>
  rounded(((cpu - (before[at] ?? 0)) / elapsed) * 100),
);
const messageToStream = summarise(waits);
const heard = waits.length;

for (let round = 1; round <= RELOADS; round++) {
  const source = await readFile("plugins/home-assistant/mirror.ts", "utf8");
  await home.write(
    "home-assistant/mirror.ts",
    source.replace("GATHER_MS = 300", `GATHER_MS = 30${round}`),
  );
  await delay(2_000);
}
clearInterval(sending);
await until(async () => (await mismatches()) === 0);
const { vanished, unavailable, resyncs } = await watch.stop();

await served.stop();
await fake.kill();
await home.remove();
const load = { devices: DEVICES, perSecond: PER_SECOND, seconds, heard };
const reloads = { count: RELOADS, vanished, unavailable, resyncs };
const cpuPercent = { host: hostCpu, plugin: pluginCpu };
console.log(
  JSON.stringify({ bench: "home-assistant", load, messageToStream, cpuPercent, reloads }),
);

function idOf(at: number): string {
  return `sensor.many_${at}`;
}

async function api(path: string, patch?: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${served.token}`, "content-type": "application/json" };
  const change = patch ? { method: "PATCH", body: JSON.stringify(patch) } : {};
  const response = await fetch(`${served.url}/api/v1${path}`, { headers, ...change });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

async function devices(): Promise<
  { name: string; available: boolean; state: { value: number } }[]
> {
  return ((await api("/smart-home/devices")) as { devices: Awaited<ReturnType<typeof devices>> })
    .devices;
}

/** Devices whose state differs from Home Assistant. */
async function mismatches(): Promise<number> {
  return (await devices()).filter(
    ({ name, state, available }) =>
      !available || String(state.value) !== fake.entities.get(name)?.state,
  ).length;
}

/** The plugin's process, found by the title that the runtime sets. */
async function pluginProcesses(): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await findDescendants(served.pid)) {
    const name = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (name.includes("mantel home-assistant")) found.push(pid);
  }
  return found;
}

/** User and system time from proc(5) `stat`, after a name in brackets that may contain any character. */
async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + BACK_WITHIN_MS;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > endsAt) throw new Error(`timeout waiting for ${condition.toString()}`);
    await delay(50);
  }
}

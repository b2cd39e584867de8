// npm run bench drop [-- rounds]: measures what callers notice while modules reload, roll back, crash and restart under
// 200 reads, 50 commands and 20 MQTT publishes a second: failures, losses, duplicates, answer times and the event
// stream. Compared with reads from servers that reload in other ways. Prints one line of JSON per phase.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  findPluginProcesses,
  nameFile,
  openHome,
  type Served,
  serveHost,
  writeLamp,
} from "./bench-home.ts";
import { alternatives } from "./shared/alternatives.ts";
import { openBroker } from "./shared/broker.ts";
import { askedIds, countingBridge } from "./shared/counting-bridge.ts";
import { EventWatch } from "./shared/event-watch.ts";
import { summarise } from "./shared/figures.ts";
import {
  type Answers,
  Load,
  Traffic,
  summarizeAnswers,
  type Target,
  TOPIC,
} from "./shared/traffic.ts";

const RATES = { reads: 200, commands: 50, publishes: 20 };
const SHIPPED = ["mqtt", "calendar", "system", "clock-widget"];
const PROCESSES = ["counter", "mqtt", "calendar", "system"];
const FAULTS = [
  "throw new Error('boom');",
  "process.exit(1);",
  "await Promise.reject(new Error());",
];
const BACK_WITHIN_MS = 15_000;
const PAUSE_MS = 150;

interface ListedModule {
  readonly state: string;
  readonly restarts: number;
  readonly generation: number;
  readonly lastReload: { readonly downtimeMs: number } | null;
}

const rounds = Number(process.argv[2] ?? 10);
const home = await openHome(SHIPPED);
let round = 0;
const gaps: number[] = [];
const save = async (fault = ""): Promise<void> => {
  for (const [file, content] of Object.entries(countingBridge(++round, fault))) {
    await home.write(file, content);
  }
};
await save();
const broker = await openBroker(TOPIC);
const served = await serveHost(home, 0, broker ? { MANTEL_MQTT_URL: broker.url } : {});
const target: Target = { ...served, data: home.data };
const headers = { authorization: `Bearer ${served.token}`, "content-type": "application/json" };
const api = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${served.url}/api/v1${path}`, { ...init, headers });

const unit = { bench: "drop", unit: "ms", rounds, rates: RATES, hasBroker: broker !== undefined };
for (const [name, work] of Object.entries({ reloadAll, rollBack, restartAll, crashAll })) {
  console.log(JSON.stringify({ ...unit, phase: name, ...(await phase(work)) }));
}
await served.stop();
await broker?.stop();
console.log(JSON.stringify({ ...unit, phase: "others", ...(await measureOthers()) }));
await home.remove();

/** Repeats `work` for the requested number of rounds under all kinds of traffic. */
async function phase(work: (round: number) => Promise<void>) {
  const before = await count();
  const asked = (await askedIds(home.data)).length;
  const watch = new EventWatch(target);
  const traffic = new Traffic(target, { ...RATES, publishes: broker ? RATES.publishes : 0 });
  await delay(PAUSE_MS);
  for (let done = 0; done < rounds; done++) {
    await work(done);
    await delay(PAUSE_MS);
  }
  const { reads, commands, publishes } = await traffic.stop(() => broker?.received ?? []);
  const counted = (await count()) - before === (await askedIds(home.data)).length - asked;
  return {
    reads: told(reads),
    commands: told(commands),
    publishes: told(publishes),
    /** The waiting time of a module's callers, from the reload results. */
    gaps: gaps.length > 0 ? summarise(gaps.splice(0)) : null,
    events: await watch.stop(),
    /** True if the handed-over count matches the bridge's file. A crash loses the count. */
    stateIsExact: work === crashAll ? null : counted,
  };
}

function told<T extends Answers>({ waits, ...answers }: T) {
  return { ...answers, ms: summarise(waits) };
}

async function count(): Promise<number> {
  const { devices } = (await (await api("/smart-home/devices?bridge=counter")).json()) as {
    devices: { state: { count: number } }[];
  };
  return Math.max(...devices.map(({ state }) => state.count)); // the last commanded lamp has the highest count
}

/** Changes the code of every module with a process. */
async function reloadAll(at: number): Promise<void> {
  for (const id of PROCESSES) {
    if (id === "counter") await save();
    else await mark(id, at);
    await api(`/modules/${id}/reload`, { method: "POST" });
    await noteGap(id);
  }
}

async function noteGap(id: string): Promise<void> {
  const { lastReload } = await moduleOf(id);
  if (lastReload) gaps.push(lastReload.downtimeMs);
}

async function mark(id: string, at: number): Promise<void> {
  const source = await readFile(join(home.plugins, id, "index.ts"), "utf8");
  const [unmarked = ""] = source.split("\nObject.assign(globalThis");
  await home.write(`${id}/index.ts`, `${unmarked}\nObject.assign(globalThis, { round: ${at} });\n`);
}

async function rollBack(at: number): Promise<void> {
  await save(FAULTS[at % FAULTS.length]);
  await api("/modules/counter/reload", { method: "POST" });
  await noteGap("counter");
  await save();
  await api("/modules/counter/reload", { method: "POST" });
}

/** Replaces all processes at the same time, with the code that they run. */
async function restartAll(): Promise<void> {
  await Promise.all(PROCESSES.map((id) => api(`/modules/${id}/reload`, { method: "POST" })));
  await Promise.all(PROCESSES.map(noteGap));
}

/** Kills each process once, because the restart after a second crash within ten minutes takes longer than callers wait. */
async function crashAll(at: number): Promise<void> {
  const id = PROCESSES[at];
  if (id === undefined) return;
  const { restarts } = await moduleOf(id);
  process.kill(await processOf(id), "SIGKILL");
  await settled(async () => {
    const now = await moduleOf(id);
    return now.restarts > restarts && ["active", "degraded"].includes(now.state);
  });
}

async function moduleOf(id: string): Promise<ListedModule> {
  return (await (await api(`/modules/${id}`)).json()) as ListedModule;
}

async function processOf(id: string): Promise<number> {
  const [pid] = await findPluginProcesses(served.pid, id);
  if (pid === undefined) throw new Error(`${id} has no process`);
  return pid;
}

async function settled(condition: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + BACK_WITHIN_MS;
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error("the modules did not become idle");
    await delay(10);
  }
}

/** Runs the same number of saves with the same reads. These servers hand over no state, so no count is compared. */
async function measureOthers() {
  await writeLamp(home, "lamp");
  const measured: Record<string, unknown> = {};
  for (const [name, start] of Object.entries(await alternatives(home, ["lamp"]))) {
    measured[name] = await measureOther(await start());
  }
  return { ...measured, state: "none of them hands any over", commands: "lost with the state" };
}

async function measureOther(server: Served) {
  const load = new Load(RATES.reads, () => fetch(server.url));
  for (let saved = 0; saved < rounds; saved++) {
    await home.write("lamp/name.ts", nameFile(`name ${saved}.`));
    await delay(PAUSE_MS * 4);
  }
  const { asked, failed, waits } = summarizeAnswers(await load.stop());
  await server.stop();
  return { reads: { asked, failed, ms: summarise(waits) } };
}

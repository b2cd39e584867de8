// npm run bench memory [-- idle seconds]: the memory of the host and of each plugin's process with 1, 5 and 20 idle plugins of ten files
// with one npm dependency. Compared with the memory that each plugin adds to servers that load the same files in other
// ways. `node --watch` is not measured separately: it has one process, in which a plugin costs as much as an import.
import { readlink, realpath } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import {
  type BenchHome,
  findDescendants,
  openHome,
  readMemory,
  serveHost,
  writeLamp,
} from "./bench-home.ts";
import { alternatives, type StartAlternative } from "./shared/alternatives.ts";
import { rounded, summarise } from "./shared/figures.ts";

const PLUGINS = [1, 5, 20];

/** Processes have collected their garbage after thirty seconds (host: ten seconds without work). */
const idleMs = Number(process.argv[2] ?? 30) * 1_000;
const mantel = [];
for (const plugins of PLUGINS) mantel.push(await measureMantel(plugins));
const alternative = await measureOthers();
console.log(JSON.stringify({ bench: "memory", unit: "MiB", mantel, others: alternative }));

async function measureMantel(plugins: number) {
  const home = await openHome();
  for (let at = 1; at <= plugins; at++) await writeLamp(home, `lamp${at}`);
  await (await serveHost(home)).stop(); // fills the cache
  const { pid, stop } = await serveHost(home);
  await delay(idleMs);
  const host = await readMemory(pid);
  const each: number[] = [];
  let others = 0;
  for (const child of await findDescendants(pid)) {
    const { pss } = await readMemory(child);
    if (await isPlugin(child, home)) each.push(pss);
    else others += pss;
  }
  await stop();
  await home.remove();
  const all = rounded(host.pss + others + each.reduce((sum, pss) => sum + pss, 0));
  return {
    plugins: each.length,
    hostRss: host.rss,
    hostPss: host.pss,
    pluginPss: summarise(each),
    /** All other processes: the warm process, esbuild, and two bubblewrap processes per plugin. */
    othersPss: rounded(others),
    allPss: all,
  };
}

/** True for a plugin's process: Node in the plugin's storage folder. */
async function isPlugin(pid: number, { data }: BenchHome): Promise<boolean> {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => "");
  const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
  return folder.startsWith(await realpath(data)) && program === process.execPath;
}

/** The memory per plugin, by server and number of plugins, minus the memory without plugins. */
async function measureOthers() {
  const home = await openHome();
  const lamps = Array.from({ length: Math.max(...PLUGINS) }, (_, at) => `lamp${at + 1}`);
  for (const lamp of lamps) await writeLamp(home, lamp);
  const measured: Record<string, unknown> = {};
  const none = await alternatives(home, []);
  for (const name of ["versionQuery", "tsxNamespace", "workerThread"]) {
    const empty = await pssOf(none[name]);
    const each: Record<string, number> = {};
    for (const plugins of PLUGINS) {
      const start = (await alternatives(home, lamps.slice(0, plugins)))[name];
      each[plugins] = rounded(((await pssOf(start)) - empty) / plugins);
    }
    measured[name] = { eachPss: each };
  }
  await home.remove();
  return { ...measured, nodeWatch: "as versionQuery, and a second process that watches" };
}

async function pssOf(start: StartAlternative | undefined): Promise<number> {
  if (!start) throw new Error("unknown alternative");
  const { pid, stop } = await start();
  await delay(idleMs);
  const { pss } = await readMemory(pid);
  await stop();
  return pss;
}

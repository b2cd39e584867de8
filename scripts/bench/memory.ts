// npm run bench memory: memory of the host and of each plugin's process with 1, 5 and 20 idle plugins
// of ten files with one npm dependency, against a worker thread each in one process.
import { readlink, realpath } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import {
  type BenchHome,
  findChildren,
  LAMP_IMPORTS,
  openHome,
  readMemory,
  rounded,
  serve,
  serveHost,
  summarise,
  writeLamp,
} from "./house.ts";

const PLUGINS = [1, 5, 20];
const IDLE_MS = 5_000;

/** As many threads as asked for, each with a bundle of the plugin's files and its dependency. */
const THREADS = `
import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { build } from "esbuild";
const { outputFiles: [bundle] } = await build({
  stdin: {
    contents: ${JSON.stringify(`${LAMP_IMPORTS}\nsetInterval(() => name + typeof mqtt, 60_000);`)},
    resolveDir: import.meta.dirname,
  },
  bundle: true, write: false, platform: "node", format: "cjs",
});
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 };
for (let left = Number(process.argv[2]); left > 0; left--) {
  await once(new Worker(bundle.text, { eval: true, resourceLimits }), "online");
}
console.log("ready http://127.0.0.1");
`;

const mantel = [];
for (const plugins of PLUGINS) mantel.push(await measureMantel(plugins));
const workerThreads = await measureThreads();
console.log(JSON.stringify({ bench: "memory", unit: "MiB", mantel, workerThreads }));

async function measureMantel(plugins: number) {
  const home = await openHome();
  for (let at = 1; at <= plugins; at++) await writeLamp(home, `lamp${at}`);
  const { pid, stop } = await serveHost(home);
  await delay(IDLE_MS);
  const host = await readMemory(pid);
  const each: number[] = [];
  let others = 0;
  for (const child of await findChildren(pid)) {
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
    /** The warm spare and esbuild. */
    othersPss: rounded(others),
    allPss: all,
  };
}

/** A process that runs a plugin works in that plugin's storage folder. */
async function isPlugin(pid: number, { data }: BenchHome): Promise<boolean> {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => "");
  return folder.startsWith(await realpath(data));
}

/** What a thread adds to its process. */
async function measureThreads() {
  const home = await openHome();
  await writeLamp(home, "lamp");
  await home.write("lamp/threads.mjs", THREADS);
  const pss = async (threads: number): Promise<number> => {
    const { pid, stop } = await serve([`${home.plugins}/lamp/threads.mjs`, String(threads)]);
    await delay(IDLE_MS);
    const memory = await readMemory(pid);
    await stop();
    return memory.pss;
  };
  const none = await pss(0);
  const measured = [];
  for (const threads of PLUGINS) {
    measured.push({ threads, threadPss: rounded(((await pss(threads)) - none) / threads) });
  }
  await home.remove();
  return measured;
}

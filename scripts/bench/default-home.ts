// npm run bench default-home [-- seconds [reloads]]: the memory of each process of the home that `npm start` shows, so many
// seconds after a start (300), and so many seconds after as many reloads of the demo home (100).
import { readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import shipped from "../../plugins/shipped.json" with { type: "json" };
import { findDescendants, openHome, readMemory, serveHost } from "./bench-home.ts";
import { rounded } from "./shared/figures.ts";

const [, , seconds = 300, reloads = 100] = process.argv;
const home = await openHome(shipped);
await (await serveHost(home)).stop(); // fills the cache
const { pid, url, token, stop } = await serveHost(home);
await delay(Number(seconds) * 1_000);
const afterStart = await memoryOfHome();
for (let at = 0; at < Number(reloads); at++) await reload(at);
await delay(Number(seconds) * 1_000);
const afterReloads = await memoryOfHome();
await stop();
await home.remove();
console.log(
  JSON.stringify({
    bench: "default-home",
    unit: "MiB (PSS)",
    seconds,
    afterStart,
    reloads,
    afterReloads,
  }),
);

async function memoryOfHome(): Promise<Record<string, number>> {
  const found: Record<string, number> = { all: 0 };
  for (const each of [pid, ...(await findDescendants(pid))]) {
    const { pss } = await readMemory(each);
    const name = each === pid ? "host" : await nameOf(each);
    found[name] = rounded((found[name] ?? 0) + pss);
    found["all"] = rounded((found["all"] ?? 0) + pss);
  }
  return found;
}

/** The plugin of a process, or its program. */
async function nameOf(process: number): Promise<string> {
  const line = (await readFile(`/proc/${process}/cmdline`, "latin1")).split("\0")[0] ?? "";
  const [, plugin] = /^mantel (.*)$/.exec(line.trim()) ?? [];
  return plugin ?? basename(await readlink(`/proc/${process}/exe`));
}

/** Saves another version of the demo home, and waits until it runs. */
async function reload(at: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const generation = async () => {
    const answer = await fetch(`${url}/api/v1/modules/demo-home`, { headers });
    return ((await answer.json()) as { generation: number }).generation;
  };
  const before = await generation();
  const source = await readFile(`${home.plugins}/demo-home/index.ts`, "utf8");
  const code = source.replace(/^globalThis\.reload = .*\n/m, "");
  await home.write("demo-home/index.ts", `${code.trimEnd()}\nglobalThis.reload = ${at};\n`);
  while ((await generation()) === before) await delay(20);
}

// npm run bench automation-saves [-- saves [states]]: saves of 200 files of automations while 500 states a second change,
// each of which starts an automation. Counts changes that no automation handled, and those that were handled twice;
// the time from a save until the API shows the new version; the waits of all files, and the memory over the saves.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findPluginProcesses, openHome, readMemory, serveHost } from "./bench-home.ts";
import { summarise } from "./shared/figures.ts";
import { SavedAutomations, writeCountingBridge } from "./shared/saved-automations.ts";

const FILES = 200;
const WAIT_MS = 30_000;
/** Changes between two counts: the service of a plugin answers within a minute. */
const SAVES_A_ROUND = 200;
const MEASURED = 10;
/** Between two saves, so that changes are counted before and after each. */
const PAUSE_MS = 20;

const [saves = 200, states = 500] = process.argv.slice(2).map(Number);
const home = await openHome(["automations"]);
await writeCountingBridge(home.write, FILES);
const served = await serveHost(home);
const headers = { authorization: `Bearer ${served.token}`, "content-type": "application/json" };
const saved = new SavedAutomations({
  files: FILES,
  waitMs: WAIT_MS,
  folder: join(home.data, "automations"),
  request,
});
await saved.open();

const counts = { sent: 0, missed: 0, doubled: 0 };
const saveMs: number[] = [];
const memory: object[] = [];
await saved.begin(states);
await saved.end(); // the first changes load code
const startedAt = performance.now();
await saved.beginWaits();
for (let done = 0; done < saves; done += SAVES_A_ROUND) {
  await saved.begin(states);
  for (let at = done; at < Math.min(saves, done + SAVES_A_ROUND); at++) {
    saveMs.push(await saved.save());
    await delay(PAUSE_MS);
    if (at % Math.ceil(saves / MEASURED) === 0) memory.push(await memoryAt(at));
  }
  const { sent, missed, doubled } = await saved.end();
  counts.sent += sent;
  counts.missed += missed;
  counts.doubled += doubled;
}
memory.push(await memoryAt(saves));
const leftMs = startedAt + WAIT_MS + 5_000 - performance.now();
if (leftMs > 0) await delay(leftMs);
const waits = await saved.waits();
await served.stop();
await home.remove();
console.log(
  JSON.stringify({
    bench: "automation-saves",
    files: FILES,
    saves,
    statesPerSecond: states,
    counts,
    saveMs: summarise(saveMs),
    waits: {
      begun: FILES,
      ended: waits.length,
      lateMs: summarise(waits.map((ms) => ms - WAIT_MS)),
    },
    memory,
  }),
);

async function memoryAt(save: number): Promise<object> {
  const [pid = 0] = await findPluginProcesses(served.pid, "automations");
  const [automations, host] = await Promise.all([readMemory(pid), readMemory(served.pid)]);
  return { save, automationsMiB: automations.pss, hostMiB: host.pss };
}

async function request(method: string, path: string, body?: object): Promise<unknown> {
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(`${served.url}/api/v1${path}`, init);
  if (answer.ok) return answer.json();
  throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
}

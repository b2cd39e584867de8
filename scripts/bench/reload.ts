// npm run bench reload [-- count]: the time from a save to the first answer of the new code, for a plugin of ten files
// with one npm dependency. Compared with servers that reload the same code in other ways: a version query, a tsx
// namespace, a worker thread, a restart by `node --watch`.
import { setTimeout as delay } from "node:timers/promises";
import { nameFile, openHome, type Served, serveHost, writeLamp } from "./bench-home.ts";
import { alternatives } from "./shared/alternatives.ts";
import { ratios, summarise, type Summary } from "./shared/figures.ts";

const WARM_UP = 5;
const PAUSE_MS = 150;
const DEADLINE_MS = 20_000;
/** Request timeout, because a restarting server may accept a connection and never answer. */
const ANSWER_MS = 2_000;
const count = Number(process.argv[2] ?? 30);
const home = await openHome();
await writeLamp(home, "lamp");
const mantel = await measure(await serveHost(home), async ({ url, token }) => {
  const headers = { authorization: `Bearer ${token}` };
  return ask(`${url}/api/v1/smart-home/devices/lamp:light:1`, headers);
});
const others: Record<string, Summary> = {};
for (const [name, start] of Object.entries(await alternatives(home, ["lamp"]))) {
  others[name] = await measure(await start(), ({ url }) => ask(url));
}
await home.remove();

const timesMantel = ratios(others, ({ p50 }) => p50 / mantel.p50);
console.log(JSON.stringify({ bench: "reload", unit: "ms", count, mantel, ...others, timesMantel }));

/** Repeatedly saves a new name and sends requests until the answer contains it. Stops the server at the end. */
async function measure(server: Served, answerOf: (server: Served) => Promise<Response>) {
  const millis: number[] = [];
  for (let round = 1; round <= count + WARM_UP; round++) {
    await delay(PAUSE_MS);
    const name = `name ${round}.`;
    await home.write("lamp/name.ts", nameFile(name));
    const savedAt = performance.now();
    for (let text = ""; !text.includes(name); text = await textOf(answerOf(server))) {
      if (performance.now() - savedAt > DEADLINE_MS) throw new Error(`"${name}" became "${text}"`);
      await delay(1);
    }
    if (round > WARM_UP) millis.push(performance.now() - savedAt);
  }
  await server.stop();
  return summarise(millis);
}

function ask(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_MS) });
}

/** The error of a request while the server restarts. */
async function textOf(response: Promise<Response>): Promise<string> {
  return response.then((each) => each.text()).catch(String);
}

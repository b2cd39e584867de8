// npm run bench faults -- [rounds] [pattern]: causes every kind of plugin fault repeatedly in a real host that answers
// 200 requests a second to other modules. Prints the plugin's downtime for each kind and, at the end, the results of the
// requests before the first fault (calm) and after it.
import { setTimeout as delay } from "node:timers/promises";
import { openFaultyHost } from "../faults/faulty-host.ts";
import { FAULTS } from "../faults/kinds.ts";
import { summarise } from "./shared/figures.ts";

const REQUESTS_PER_SECOND = 200;
const CALM_MS = 10_000;

const rounds = Number(process.argv[2] ?? 3);
const pattern = new RegExp(process.argv[3] ?? "");
const kinds = FAULTS.filter(({ name }) => pattern.test(name));
const host = await openFaultyHost(kinds);

const before = host.ask(REQUESTS_PER_SECOND);
await delay(CALM_MS);
const calm = await before.end();

const requests = host.ask(REQUESTS_PER_SECOND);
const all: number[] = [];
for (const kind of kinds) {
  const awayMs: number[] = [];
  for (let round = 0; round < rounds; round++) awayMs.push(await host.commit(kind));
  all.push(...awayMs);
  console.log(JSON.stringify({ fault: kind.name, rounds, awayMs: summarise(awayMs) }));
}
const faulty = await requests.end();
await host.stop();
console.log(
  JSON.stringify({ bench: "faults", faults: all.length, awayMs: summarise(all), calm, faulty }),
);

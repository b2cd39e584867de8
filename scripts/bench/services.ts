// npm run bench services [-- count]: calls of a service from one plugin to another through a running host, one at a
// time: the caller's process, the host with its checks of input and answer, and the provider's process.
import { setTimeout as delay } from "node:timers/promises";
import { openHome, serveHost } from "./bench-home.ts";
import { summarise } from "./shared/figures.ts";

const WARM_UP = 2_000;
const SETTLED_MS = 20_000;

const DEFINITIONS = `
import { defineService, Type } from "@mantel/plugin-sdk";
const Item = Type.Object({ id: Type.String(), title: Type.String(), read: Type.Boolean() });
export const items = defineService("bench.items", {
  input: Type.Object({ feed: Type.String({ maxLength: 100 }), limit: Type.Integer({ minimum: 1, maximum: 100 }) }),
  output: Type.Array(Item),
});
export const readItems = defineService("bench.reads", {
  input: items.input,
  output: items.output,
  repeatable: true,
});
export const measure = defineService("bench.measure", {
  input: Type.Object({ count: Type.Integer(), limit: Type.Integer(), repeatable: Type.Boolean() }),
  output: Type.Array(Type.Number()),
  deadlineMs: 60_000,
  open: "read",
});
`;
const PROVIDER = `
import { definePlugin, provide } from "@mantel/plugin-sdk";
import { items, readItems } from "./services.ts";
const all = Array.from({ length: 100 }, (_, at) => ({ id: "item-" + at, title: "Headline number " + at, read: at % 2 === 0 }));
export default definePlugin({
  start: () => ({ services: [provide(items, ({ limit }) => all.slice(0, limit)), provide(readItems, ({ limit }) => all.slice(0, limit))] }),
});
`;
const CALLER = `
import { definePlugin, provide } from "@mantel/plugin-sdk";
import { items, measure, readItems } from "./services.ts";
export default definePlugin({
  start: ({ call }) => ({
    services: [
      provide(measure, async ({ count, limit, repeatable }) => {
        const micros: number[] = [];
        while (micros.length < count) {
          const startedAt = performance.now();
          await call(repeatable ? readItems : items, { feed: "world", limit });
          micros.push((performance.now() - startedAt) * 1_000);
        }
        return micros;
      }),
    ],
  }),
});
`;

const count = Number(process.argv[2] ?? 5_000);
const home = await openHome();
await writePlugin("provider", PROVIDER, { provides: ["bench.items", "bench.reads"] });
await writePlugin("caller", CALLER, {
  provides: ["bench.measure"],
  uses: ["bench.items", "bench.reads"],
});
const served = await serveHost(home);
const headers = { authorization: `Bearer ${served.token}`, "content-type": "application/json" };
await call({ count: WARM_UP, limit: 10, repeatable: false });
const smallAnswer = summarise(await call({ count, limit: 1, repeatable: false }));
const tenItems = summarise(await call({ count, limit: 10, repeatable: false }));
const repeatable = summarise(await call({ count, limit: 1, repeatable: true }));
await served.stop();
await home.remove();
console.log(
  JSON.stringify({ bench: "services", unit: "µs", count, smallAnswer, tenItems, repeatable }),
);

async function writePlugin(id: string, source: string, declared: object): Promise<void> {
  const mantel = { id, kinds: ["service"], server: "index.ts", ...declared };
  await home.write(`${id}/package.json`, JSON.stringify({ name: id, type: "module", mantel }));
  await home.write(`${id}/services.ts`, DEFINITIONS);
  await home.write(`${id}/index.ts`, source);
}

/** Calls the caller's service, once both plugins run. */
async function call(input: object): Promise<number[]> {
  const endsAt = performance.now() + SETTLED_MS;
  for (;;) {
    const init = { method: "POST", headers, body: JSON.stringify(input) };
    const answer = await fetch(`${served.url}/api/v1/services/bench.measure`, init);
    if (answer.ok) return (await answer.json()) as number[];
    if (performance.now() > endsAt) throw new Error(await answer.text());
    await delay(100);
  }
}

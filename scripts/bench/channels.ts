// npm run bench channels [-- count]: the time from `publish` in a plugin until Chromium has painted the value in a
// widget of the dashboard, and the CPU time of the host while a plugin publishes 200 values a second, with that page
// open. Painted means that the frame with the value was drawn.
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { hasBrowser, launchBrowser } from "../../test/helpers/browser.ts";
import { openHome, serveHost } from "./bench-home.ts";
import { rounded, summarise } from "./shared/figures.ts";

const WARM_UP = 10;
/** Longer than the time within which the dashboard draws changes together. */
const PAUSE_MS = 150;
const PER_SECOND = 200;
const LOAD_MS = 10_000;
const SETTLED_MS = 30_000;
/** Clock ticks of proc(5): 100 a second on Linux. */
const TICK_MS = 10;

const SHARED = `
import { defineChannels, defineService, Type } from "@mantel/plugin-sdk";
export const channels = defineChannels({
  tick: { schema: Type.Object({ n: Type.Integer(), at: Type.Number() }) },
});
export const tick = defineService("bench.tick", {
  input: Type.Object({ count: Type.Integer(), everyMs: Type.Number() }),
  output: Type.Object({}),
  deadlineMs: 60_000,
  open: "read",
});
`;
const SERVER = `
import { definePlugin, provide } from "@mantel/plugin-sdk";
import { channels, tick } from "./shared.ts";
export default definePlugin({
  channels,
  start(ctx) {
    let n = 0;
    ctx.channels.tick.publish({ n, at: Date.now() });
    return {
      services: [
        provide(tick, async ({ count, everyMs }) => {
          const startedAt = performance.now();
          for (let sent = 1; sent <= count; sent++) {
            ctx.channels.tick.publish({ n: ++n, at: Date.now() });
            const wait = startedAt + sent * everyMs - performance.now();
            if (wait > 0) await new Promise((done) => setTimeout(done, wait));
          }
          return {};
        }),
      ],
    };
  },
});
`;
const WIDGET = `
import { defineWidget } from "@mantel/plugin-sdk/widget";
import type { channels } from "./shared.ts";
export default defineWidget({
  name: "Ticks",
  size: { default: [2, 2] },
  mount(root, ctx) {
    const word = document.createElement("p");
    root.append(word);
    const tick = ctx.channel<typeof channels>("tick");
    ctx.effect(() => {
      const value = tick.value;
      if (!value) return;
      word.textContent = String(value.n);
      globalThis.bench.drawn(value.at);
    });
  },
});
`;
/** Notes when the frame with a value was drawn: the next task runs after the paint. */
const PAINT_WATCH = `
globalThis.bench = {
  millis: [],
  drawn(at) {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => bench.millis.push(Date.now() - at);
      port2.postMessage(undefined);
    });
  },
};
`;
const MANTEL = {
  id: "ticker",
  kinds: ["service", "widget"],
  server: "index.ts",
  widget: "widget.ts",
  provides: ["bench.tick"],
  needs: { channels: ["tick"] },
};
const LAYOUT = {
  version: 1,
  grid: { columns: 12, rowHeight: 56, gap: 8 },
  pages: [
    {
      id: "home",
      title: "Home",
      widgets: [
        {
          id: "tick",
          module: "ticker",
          config: {},
          geometry: { lg: { x: 0, y: 0, w: 4, h: 4 } },
        },
      ],
    },
  ],
  displays: [],
};

if (!hasBrowser()) {
  console.log(JSON.stringify({ bench: "channels", leftOut: "Chromium is not installed" }));
  process.exit(0);
}
const count = Number(process.argv[2] ?? 100);
const home = await openHome();
await home.write("ticker/package.json", JSON.stringify({ type: "module", mantel: MANTEL }));
await home.write("ticker/shared.ts", SHARED);
await home.write("ticker/index.ts", SERVER);
await home.write("ticker/widget.ts", WIDGET);
const served = await serveHost(home);
await send("PUT", "/layout", LAYOUT);
await send("PATCH", "/config", { modules: { ticker: { trusted: true } } });
const made = await send("POST", "/tokens", { name: "bench", scope: ["admin"] });
const { token } = (await made.json()) as { token: string };
const browser = await launchBrowser();
const page = await browser.newPage();
await page.addInitScript(PAINT_WATCH);
await page.goto(`${served.url}/#token=${token}`);
await tickOnce(SETTLED_MS);
while ((await page.evaluate<number>("bench.millis.length")) === 0) await delay(10);
await publish(WARM_UP, PAUSE_MS);
await page.evaluate("bench.millis.length = 0");
await publish(count, PAUSE_MS);
await delay(PAUSE_MS);
const painted = summarise(await page.evaluate<number[]>("bench.millis"));
const idlePercent = await hostPercent(() => delay(LOAD_MS));
const loadedPercent = await hostPercent(() =>
  publish((PER_SECOND * LOAD_MS) / 1_000, 1_000 / PER_SECOND),
);
await browser.close();
await served.stop();
await home.remove();
const load = { perSecond: PER_SECOND, idlePercent, loadedPercent };
console.log(JSON.stringify({ bench: "channels", unit: "ms", count, painted, load }));

function send(method: string, path: string, body: unknown): Promise<Response> {
  return fetch(`${served.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${served.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function publish(values: number, everyMs: number): Promise<void> {
  const answer = await send("POST", "/services/bench.tick", { count: values, everyMs });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Publishes a value, once the plugin runs. */
async function tickOnce(withinMs: number): Promise<void> {
  const endsAt = performance.now() + withinMs;
  for (;;) {
    try {
      return await publish(1, 0);
    } catch (error) {
      if (performance.now() > endsAt) throw error;
      await delay(100);
    }
  }
}

/** The CPU time of the host process during `work`, in percent of one core. */
async function hostPercent(work: () => Promise<void>): Promise<number> {
  const [before, startedAt] = [await cpuMs(), performance.now()];
  await work();
  return rounded((100 * ((await cpuMs()) - before)) / (performance.now() - startedAt));
}

/** User and system time: fields 14 and 15 of proc(5) `stat`. */
async function cpuMs(): Promise<number> {
  const stat = await readFile(`/proc/${served.pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

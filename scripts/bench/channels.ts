// npm run bench channels [-- count]: the time from `publish` in a plugin until Chromium has painted the value, in a
// widget of the page and in one in a frame, and the CPU time of the host while a plugin publishes 200 values a second
// through four channels, with that page and another client open. Painted means that the frame with the value was drawn.
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { hasBrowser, launchBrowser } from "../../test/helpers/browser.ts";
import { openHome, serveHost } from "./bench-home.ts";
import { EventWatch } from "./shared/event-watch.ts";
import { rounded, summarise } from "./shared/figures.ts";

const WARM_UP = 10;
/** Longer than the time within which the dashboard draws changes together. */
const PAUSE_MS = 150;
/** A channel passes on 50 values a second. */
const CHANNELS = ["a", "b", "c", "d"];
const PER_SECOND = 200;
const LOAD_MS = 10_000;
const SETTLED_MS = 30_000;
/** Clock ticks of proc(5): 100 a second on Linux. */
const TICK_MS = 10;

/** The plugins by id; the widget of the second one is in a frame. */
const PLUGINS = { inpage: { trusted: true }, framed: { trusted: false } };
type PluginId = keyof typeof PLUGINS;

/** @param id also part of the service's name, which no two plugins share */
const shared = (id: PluginId) => `
import { defineChannels, defineService, Type } from "@mantel/plugin-sdk";
const channel = {
  schema: Type.Object({
    n: Type.Integer(),
    at: Type.Number(),
    name: Type.String(),
    level: Type.Union([Type.Number(), Type.Null()]),
    parts: Type.Array(Type.Object({ name: Type.String(), isOn: Type.Boolean() })),
  }),
};
export const channels = defineChannels({ ${CHANNELS.map((name) => `${name}: channel`).join(", ")} });
export const tick = defineService("bench.${id}", {
  input: Type.Object({ count: Type.Integer(), everyMs: Type.Number(), channels: Type.Integer() }),
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
    const publishers = Object.values(ctx.channels);
    const parts = ["kitchen", "hall", "garden"].map((name) => ({ name, isOn: true }));
    let n = 0;
    const publish = (publisher) =>
      publisher.publish({ n: ++n, at: Date.now(), name: "living room", level: n / 7, parts });
    for (const each of publishers) publish(each);
    return {
      services: [
        provide(tick, async ({ count, everyMs, channels }) => {
          const startedAt = performance.now();
          for (let sent = 0; sent < count; sent++) {
            publish(publishers[sent % channels]);
            const wait = startedAt + (sent + 1) * everyMs - performance.now();
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
    for (const name of ${JSON.stringify(CHANNELS)} as const) {
      const word = document.createElement("p");
      root.append(word);
      const tick = ctx.channel<typeof channels>(name);
      ctx.effect(() => {
        const value = tick.value;
        if (!value) return;
        word.textContent = String(value.n);
        globalThis.bench.drawn(value.at);
      });
    }
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
const LAYOUT = {
  version: 1,
  grid: { columns: 12, rowHeight: 56, gap: 8 },
  pages: [
    {
      id: "home",
      title: "Home",
      widgets: Object.keys(PLUGINS).map((id, at) => ({
        id,
        module: id,
        config: {},
        geometry: { lg: { x: 4 * at, y: 0, w: 4, h: 4 } },
      })),
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
for (const id of Object.keys(PLUGINS) as PluginId[]) {
  const mantel = {
    id,
    kinds: ["service", "widget"],
    server: "index.ts",
    widget: "widget.ts",
    provides: [`bench.${id}`],
    needs: { channels: CHANNELS },
  };
  await home.write(`${id}/package.json`, JSON.stringify({ type: "module", mantel }));
  await home.write(`${id}/shared.ts`, shared(id));
  await home.write(`${id}/index.ts`, SERVER);
  await home.write(`${id}/widget.ts`, WIDGET);
}
const served = await serveHost(home);
await send("PUT", "/layout", LAYOUT);
await send("PATCH", "/config", { modules: PLUGINS });
const made = await send("POST", "/tokens", { name: "bench", scope: ["admin"] });
const { token } = (await made.json()) as { token: string };
const browser = await launchBrowser();
const page = await browser.newPage();
await page.addInitScript(PAINT_WATCH);
await page.goto(`${served.url}/#token=${token}`);
const painted = {
  inPage: await timesToPaint("inpage", () => page.mainFrame()),
  inFrame: await timesToPaint("framed", () => page.frames()[1]),
};
const watch = new EventWatch({ url: served.url, token });
await watch.opened;
const idlePercent = await hostPercent(() => delay(LOAD_MS));
const [takenBefore, loadedAt] = [await valuesTaken(), performance.now()];
const loadedPercent = await hostPercent(() =>
  publish("inpage", (PER_SECOND * LOAD_MS) / 1_000, 1_000 / PER_SECOND, CHANNELS.length),
);
const seconds = (performance.now() - loadedAt) / 1_000;
const perSecond = rounded(((await valuesTaken()) - takenBefore) / seconds);
await watch.stop();
await browser.close();
await served.stop();
await home.remove();
const load = { channels: CHANNELS.length, perSecond, idlePercent, loadedPercent };
console.log(JSON.stringify({ bench: "channels", unit: "ms", count, painted, load }));

/** Milliseconds from `publish` to the drawn frame, in the document that shows the widget of a plugin. */
async function timesToPaint(id: PluginId, find: () => ReturnType<Page["mainFrame"]> | undefined) {
  await tickOnce(id, SETTLED_MS);
  const endsAt = performance.now() + SETTLED_MS;
  while (!(await find()?.evaluate<boolean>("globalThis.bench?.millis.length > 0"))) {
    if (performance.now() > endsAt) throw new Error(`the widget of ${id} draws nothing`);
    await delay(10);
  }
  await publish(id, WARM_UP, PAUSE_MS, 1);
  await find()?.evaluate("bench.millis.length = 0");
  await publish(id, count, PAUSE_MS, 1);
  await delay(PAUSE_MS);
  return summarise((await find()?.evaluate<number[]>("bench.millis")) ?? []);
}

function send(method: string, path: string, body: unknown): Promise<Response> {
  return fetch(`${served.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${served.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function publish(
  id: PluginId,
  values: number,
  everyMs: number,
  channels: number,
): Promise<void> {
  const answer = await send("POST", `/services/bench.${id}`, { count: values, everyMs, channels });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Publishes a value, once the plugin runs. */
async function tickOnce(id: PluginId, withinMs: number): Promise<void> {
  const endsAt = performance.now() + withinMs;
  for (;;) {
    try {
      return await publish(id, 1, 0, 1);
    } catch (error) {
      if (performance.now() > endsAt) throw error;
      await delay(100);
    }
  }
}

/** The number of values that the host has taken. */
async function valuesTaken(): Promise<number> {
  const answer = await fetch(`${served.url}/api/v1/metrics`, {
    headers: { authorization: `Bearer ${served.token}` },
  });
  return Number(/^mantel_channel_values_total (\d+)$/m.exec(await answer.text())?.[1]);
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

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BenchHome, Served } from "../bench/bench-home.ts";
import { waitForExpression, openPage, readPage } from "./page.ts";
import type { Reading } from "./reading.ts";

const PACKAGE = {
  name: "counter-widget",
  type: "module",
  mantel: { id: "counter-widget", kinds: ["widget"], widget: "widget.ts" },
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
          id: "counter",
          module: "counter-widget",
          config: {},
          geometry: { lg: { x: 0, y: 0, w: 4, h: 4 } },
        },
      ],
    },
  ],
  displays: [],
};

/** A widget with a style sheet, a template, listeners, a timer, an effect and a state to hand over. */
const widget = (round: number): string => `
import { defineWidget } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, render } from "lit";
export default defineWidget<Record<never, never>, { swaps: number }>({
  name: "Counter",
  size: { default: [4, 4] },
  styles: "p { margin: 0; width: ${round}px; }",
  mount(root, ctx) {
    const swaps = (ctx.handedOver?.swaps ?? 0) + 1;
    const ticks = signal(0);
    const tick = () => void ticks.value++;
    setInterval(tick, 50);
    addEventListener("resize", tick);
    ctx.every(1_000, tick);
    ctx.effect(() => render(html\`<p>round ${round}</p><button @click=\${tick}>\${ticks.value}</button>\`, root));
    Object.assign(globalThis, { shown: "round ${round}" });
    return { handOver: () => ({ swaps }) };
  },
});
`;

/** The script that the control page loads and releases in each round. */
const script = (round: number): string =>
  `define(() => { const text = (parts) => parts[0]; return text\`round ${round}\`; });//${"x".repeat(2_000)}`;
const CONTROL = `<!doctype html><script>
let factory;
const define = (made) => { factory = made; };
function load(round) {
  const script = document.createElement("script");
  script.src = "/" + round + ".js";
  script.onload = () => { shown = factory(); factory = undefined; script.remove(); };
  document.head.append(script);
}
var shown = "";
</script>`;

const shows = (round: number): string => `globalThis.shown === "round ${round}"`;

/** A page with one swap per round. */
export interface SwappedPage {
  swap(round: number): Promise<void>;
  read(): Promise<Reading>;
  close(): Promise<void>;
}

/** Writes the widget that `openDashboard` shows. */
export async function writeWidget({ write }: BenchHome): Promise<void> {
  await write("counter-widget/package.json", JSON.stringify(PACKAGE));
  await write("counter-widget/widget.ts", widget(0));
}

/** Opens the dashboard with that widget. A round ends when the page shows the new code. */
export async function openDashboard(host: Served, home: BenchHome): Promise<SwappedPage> {
  const headers = { authorization: `Bearer ${host.token}`, "content-type": "application/json" };
  const send = (method: string, path: string, body: object) =>
    fetch(`${host.url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
  // A trusted widget runs in the page itself, where the counters are read.
  await send("PATCH", "/config", { modules: { "counter-widget": { trusted: true } } });
  await send("PUT", "/layout", LAYOUT);
  const { session, close } = await openPage(`${host.url}/#token=${host.token}`);
  try {
    await waitForExpression(session, shows(0));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async swap(round) {
      await home.write("counter-widget/widget.ts", widget(round));
      await waitForExpression(session, shows(round));
    },
    read: () => readPage(session),
    close,
  };
}

/** A control page that loads and releases a script per round and is measured as often as the dashboard. */
export async function openControl(): Promise<SwappedPage> {
  const server = createServer(({ url = "" }, response) => {
    const [, round] = /^\/(\d+)\.js$/.exec(url) ?? [];
    const type = round === undefined ? "text/html" : "text/javascript";
    response.setHeader("content-type", type).end(round ? script(Number(round)) : CONTROL);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { session, close } = await openPage(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  );
  return {
    async swap(round) {
      await session.send("Runtime.evaluate", { expression: `load(${round})` });
      await waitForExpression(session, shows(round));
    },
    read: () => readPage(session),
    async close() {
      await close();
      server.close();
    },
  };
}

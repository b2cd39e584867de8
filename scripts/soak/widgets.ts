import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BenchHome, Served } from "../bench/house.ts";
import { becomes, openPage, readPage } from "./page.ts";
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
      ...{ id: "home", title: "Home" },
      widgets: [
        {
          ...{ id: "counter", module: "counter-widget", config: {} },
          geometry: { lg: { x: 0, y: 0, w: 4, h: 4 } },
        },
      ],
    },
  ],
  displays: [],
};

/** Opens what widgets open: a style sheet, a template, listeners, a timer, an effect, a state to keep. */
const widget = (round: number): string => `
import { defineWidget } from "@mantel/plugin-sdk/widget";
import { signal } from "@preact/signals-core";
import { html, render } from "lit";
export default defineWidget<Record<never, never>, { swaps: number }>({
  name: "Counter",
  size: { default: [4, 4] },
  styles: "p { margin: 0; width: ${round}px; }",
  mount(root, ctx) {
    const swaps = (ctx.kept?.swaps ?? 0) + 1;
    const ticks = signal(0);
    const tick = () => void ticks.value++;
    setInterval(tick, 50);
    addEventListener("resize", tick);
    ctx.every(1_000, tick);
    ctx.effect(() => render(html\`<p>round ${round}</p><button @click=\${tick}>\${ticks.value}</button>\`, root));
    Object.assign(globalThis, { shown: "round ${round}" });
    return { keep: () => ({ swaps }) };
  },
});
`;

/** What the control loads in each round, from a page that lets go of it at once. */
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

/** A page that is swapped once in each round. */
export interface SwappedPage {
  swap(round: number): Promise<void>;
  read(): Promise<Reading>;
  close(): Promise<void>;
}

/** Writes the widget whose dashboard `openDashboard` shows. */
export async function writeWidget({ write }: BenchHome): Promise<void> {
  await write("counter-widget/package.json", JSON.stringify(PACKAGE));
  await write("counter-widget/widget.ts", widget(0));
}

/** The dashboard with that widget. A round ends when the page shows the new code. */
export async function openDashboard(host: Served, home: BenchHome): Promise<SwappedPage> {
  const headers = { authorization: `Bearer ${host.token}`, "content-type": "application/json" };
  const body = JSON.stringify(LAYOUT);
  await fetch(`${host.url}/api/v1/layout`, { method: "PUT", headers, body });
  const { session, close } = await openPage(`${host.url}/#token=${host.token}`);
  await becomes(session, shows(0));
  return {
    async swap(round) {
      await home.write("counter-widget/widget.ts", widget(round));
      await becomes(session, shows(round));
    },
    read: () => readPage(session),
    close,
  };
}

/** A page that loads and drops a script in each round, and is asked as often as the dashboard is. */
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
      await becomes(session, shows(round));
    },
    read: () => readPage(session),
    async close() {
      await close();
      server.close();
    },
  };
}

// npm run bench widget [-- count]: time from the end of a save of a widget to its new text painted in
// Chromium, on the dashboard, against a page that imports the built code again by a version query, and
// against a page that is loaded again whole. Painted means: after the frame that shows it was drawn.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { watch } from "chokidar";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { hasBrowser, launchBrowser } from "../../test/helpers/browser.ts";
import { openHome, serveHost } from "./house.ts";
import { ratios, summarise, type Summary } from "./shared/figures.ts";

const WARM_UP = 3;
const PAUSE_MS = 200;
const DEADLINE_MS = 20_000;

const widget = (text: string): string => `
import { defineWidget } from "@mantel/plugin-sdk/widget";
export default defineWidget({
  name: "Word",
  size: { default: [2, 2] },
  mount(root) {
    const word = document.createElement("p");
    word.textContent = ${JSON.stringify(text)};
    root.append(word);
    globalThis.bench.mounted(${JSON.stringify(text)});
  },
});
`;
const PACKAGE = {
  type: "module",
  mantel: { id: "word-widget", kinds: ["widget"], widget: "widget.ts" },
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
          id: "word",
          module: "word-widget",
          config: {},
          geometry: { lg: { x: 0, y: 0, w: 4, h: 4 } },
        },
      ],
    },
  ],
  displays: [],
};

/** Tells when the frame that shows a text was drawn: the task after it comes when it is painted. */
const PAINT_WATCH = `
globalThis.bench = {
  painted: new Map(),
  mounted(text) {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => bench.painted.set(text, Date.now());
      port2.postMessage(undefined);
    });
  },
};
`;

if (!hasBrowser()) {
  console.log(JSON.stringify({ bench: "widget", leftOut: "Chromium is not installed" }));
  process.exit(0);
}
const count = Number(process.argv[2] ?? 30);
const home = await openHome();
await home.write("word-widget/package.json", JSON.stringify(PACKAGE));
await home.write("word-widget/widget.ts", widget("word 0"));
const browser = await launchBrowser();
const mantel = await measureMantel();
const others = {
  versionQuery: await measureServed("import"),
  pageReload: await measureServed("reload"),
};
await browser.close();
await home.remove();
const timesMantel = ratios(others, ({ p50 }) => p50 / mantel.p50);
console.log(JSON.stringify({ bench: "widget", unit: "ms", count, mantel, ...others, timesMantel }));

async function measureMantel(): Promise<Summary> {
  const { url, token, stop } = await serveHost(home);
  await fetch(`${url}/api/v1/layout`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(LAYOUT),
  });
  const measured = await measure(`${url}/#token=${token}`);
  await stop();
  return measured;
}

/** Saves another text again and again, and asks the page when it was painted. */
async function measure(url: string): Promise<Summary> {
  const page = await browser.newPage();
  await page.addInitScript(PAINT_WATCH);
  await page.goto(url);
  await paintedAt(page, "word 0");
  const millis: number[] = [];
  for (let round = 1; round <= count + WARM_UP; round++) {
    await delay(PAUSE_MS);
    await home.write("word-widget/widget.ts", widget(`word ${round}`));
    const savedAt = Date.now();
    const ms = (await paintedAt(page, `word ${round}`)) - savedAt;
    if (round > WARM_UP) millis.push(ms);
  }
  await page.close();
  await home.write("word-widget/widget.ts", widget("word 0"));
  return summarise(millis);
}

/** A page that is loading again has nothing to ask yet. */
async function paintedAt(page: Page, text: string): Promise<number> {
  const endsAt = Date.now() + DEADLINE_MS;
  for (;;) {
    const asked = page.evaluate(`globalThis.bench?.painted.get(${JSON.stringify(text)})`);
    const at = (await asked.catch(() => undefined)) as number | undefined;
    if (at !== undefined) return at;
    if (Date.now() > endsAt) throw new Error(`"${text}" was not painted`);
    await delay(1);
  }
}

/** A server that builds the widget at each save, and a page that imports it or loads itself again. */
async function measureServed(how: "import" | "reload"): Promise<Summary> {
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    void answer(request.url ?? "/", response);
  });
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    if (path === "/events") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      streams.add(response);
    } else if (path.startsWith("/widget.js")) {
      response.setHeader("content-type", "text/javascript");
      response.end(await bundle());
    } else response.setHeader("content-type", "text/html").end(pageThat(how));
  };
  const watcher = watch(join(home.plugins, "word-widget"), { ignoreInitial: true });
  watcher.on("change", () => {
    for (const stream of streams) stream.write(`data: ${Date.now()}\n\n`);
  });
  await once(watcher, "ready");
  await once(server.listen(0, "127.0.0.1"), "listening");
  const measured = await measure(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await watcher.close();
  server.closeAllConnections();
  server.close();
  return measured;
}

async function bundle(): Promise<string> {
  const file = join(home.plugins, "word-widget/widget.ts");
  while ((await readFile(file, "utf8")) === "") await delay(1); // an editor is about to write it
  const built = await build({ entryPoints: [file], bundle: true, write: false, format: "esm" });
  return built.outputFiles[0]?.text ?? "";
}

function pageThat(how: "import" | "reload"): string {
  const follow =
    how === "reload"
      ? "events.onmessage = () => location.reload();"
      : "events.onmessage = ({ data }) => show(data);";
  return `<!doctype html><body><script type="module">
const show = async (version) => {
  const { default: widget } = await import("/widget.js?v=" + version);
  const next = document.createElement("div");
  widget.mount(next.attachShadow({ mode: "open" }), {});
  document.body.replaceChildren(next);
};
const events = new EventSource("/events");
${follow}
await show(Date.now());
</script>`;
}

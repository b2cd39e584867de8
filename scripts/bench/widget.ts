// npm run bench widget [-- count]: the time from a save of a widget until Chromium has painted its new text, on the
// dashboard (in the page and in a sandboxed frame). Compared with a page that imports the built code with a version
// query, and with a full reload of the page. Painted means that the frame with the text was drawn.
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
import { openHome, serveHost } from "./bench-home.ts";
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

/** Reports when the frame with a text was drawn: the next task runs after the paint. */
const PAINT_WATCH = `
globalThis.bench = {
  painted: new Map(),
  shown: [],
  mounted(text) {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => bench.painted.set(text, Date.now());
      port2.postMessage(undefined);
    });
  },
};
new MutationObserver((changes) => {
  const isShown = ({ target }) => target.matches("mantel-frame:not(.waiting)");
  if (!changes.some(isShown)) return;
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => bench.shown.push(Date.now());
    port2.postMessage(undefined);
  });
}).observe(document, { subtree: true, attributeFilter: ["class"] });
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
const [mantel, inFrame] = await measureMantel();
const others = {
  versionQuery: await measureServed("import"),
  pageReload: await measureServed("reload"),
};
await browser.close();
await home.remove();
const timesMantel = ratios(others, ({ p50 }) => p50 / mantel.p50);
console.log(
  JSON.stringify({ bench: "widget", unit: "ms", count, mantel, inFrame, ...others, timesMantel }),
);

async function measureMantel(): Promise<readonly [inPage: Summary, inFrame: Summary]> {
  const { url, token, stop } = await serveHost(home);
  const send = (method: string, path: string, body: unknown) =>
    fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const trust = (trusted: boolean) =>
    send("PATCH", "/config", { modules: { "word-widget": { trusted } } });
  await send("PUT", "/layout", LAYOUT);
  await trust(true);
  /** Each link signs in one browser. */
  const link = async (): Promise<string> => {
    const made = await send("POST", "/tokens", { name: "bench", scope: ["admin"] });
    return `${url}/#token=${((await made.json()) as { token: string }).token}`;
  };
  const inPage = await measure(await link());
  await trust(false);
  const framed = await measure(await link());
  await stop();
  return [inPage, framed];
}

/** Repeatedly saves a new text and reads from the page when it was painted. */
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

/** The time at which a text was painted; for a frame, the time at which the page showed it. Retries while the page loads. */
async function paintedAt(page: Page, text: string): Promise<number> {
  const endsAt = Date.now() + DEADLINE_MS;
  for (;;) {
    for (const frame of page.frames()) {
      const asked = frame.evaluate(`globalThis.bench?.painted.get(${JSON.stringify(text)})`);
      const at = (await asked.catch(() => undefined)) as number | undefined;
      if (at === undefined) continue;
      if (frame === page.mainFrame()) return at;
      const shown = await page.evaluate<number | undefined>(
        `bench.shown.find((each) => each >= ${at})`,
      );
      if (shown !== undefined) return shown;
    }
    if (Date.now() > endsAt) throw new Error(`"${text}" was not painted`);
    await delay(1);
  }
}

/** A server that builds the widget at each save, with a page that imports it again or reloads itself. */
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
  while ((await readFile(file, "utf8")) === "") await delay(1); // the file is being written
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

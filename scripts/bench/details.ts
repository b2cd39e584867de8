// npm run bench details [-- count]: the time from a tap on a tile until Chromium has painted the sheet of a thermostat,
// until it has painted the chart of the last day, and from a tap on "30 d" until the chart of 30 days; with the
// processor as it is and six times slower. The recorder has 30 days with a value each minute.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { Recorder } from "../../plugins/recorder/recorder.ts";
import { SqliteStorage } from "../../plugins/recorder/sqlite.ts";
import { NOTHING_NEW } from "../../plugins/recorder/storage.ts";
import { launchBrowser } from "../../test/helpers/browser.ts";
import { openHome, serveHost } from "./bench-home.ts";
import { summarise } from "./shared/figures.ts";

const DAYS = 30;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const PAUSE_MS = 1_000;
const SLOW_DOWN = 6;
const HEATING = { id: "demo:thermostat:1", name: "Heating", room: "Upstairs", kind: "thermostat" };
const LAYOUT = {
  version: 1,
  grid: { columns: 12, rowHeight: 20, gap: 12 },
  pages: [
    {
      id: "home",
      title: "Home",
      widgets: ["Living room", "Kitchen", "Upstairs"].map((room, at) => ({
        id: `room-${at}`,
        module: "room-widget",
        config: { room },
        geometry: { lg: { x: 0, y: 2 + at * 5, w: 12, h: 5 } },
      })),
    },
  ],
  displays: [],
};

/** Measures in the page: from the click until the next task after the frame in which something is drawn. */
const TIMES = `
const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = resolve;
  port2.postMessage(undefined);
}));
const until = async (find) => {
  for (;;) {
    const found = find();
    if (found) return found;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
};
const sheet = () => document.querySelector("dialog.details .sheet")?.shadowRoot;
const drawn = () => sheet()?.querySelector(".history .line")?.getAttribute("d") || undefined;
const everywhere = function* (root) {
  for (const element of root.querySelectorAll("*")) {
    yield element;
    if (element.shadowRoot) yield* everywhere(element.shadowRoot);
  }
};
globalThis.measureDetails = async () => {
  const more = [...everywhere(document)].find((each) =>
    each.matches?.("button.more") && each.getAttribute("aria-label").endsWith("Heating"));
  const start = performance.now();
  more.click();
  await until(() => sheet()?.querySelector("h2"));
  await painted();
  const opened = performance.now() - start;
  const day = await until(drawn);
  await painted();
  const chart = performance.now() - start;
  const [, , month] = sheet().querySelectorAll(".spans button");
  const asked = performance.now();
  month.click();
  await until(() => month.getAttribute("aria-pressed") === "true" && drawn() && drawn() !== day);
  await painted();
  const thirtyDays = performance.now() - asked;
  sheet().querySelector(".close").click();
  await until(() => !document.querySelector("dialog.details"));
  return { opened, chart, thirtyDays };
};
`;

interface Times {
  readonly opened: number;
  readonly chart: number;
  readonly thirtyDays: number;
}

const count = Number(process.argv[2] ?? 15);
const home = await openHome(["demo-home", "room-widget", "recorder"]);
await fillHistory();
const host = await serveHost(home);
await send("PATCH", "/config", { modules: { "room-widget": { trusted: true } } });
await send("PUT", "/layout", LAYOUT);
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.addInitScript(TIMES);
await page.goto(`${host.url}/#token=${host.token}`);
await page.getByRole("button", { name: "Details: Heating" }).waitFor();
await delay(PAUSE_MS);
const first = summed(await measure(1));
const asIs = summed(await measure(count));
const session = await page.context().newCDPSession(page);
await session.send("Emulation.setCPUThrottlingRate", { rate: SLOW_DOWN });
const slowed = summed(await measure(count));
await browser.close();
await host.stop();
await home.remove();
console.log(
  JSON.stringify({ bench: "details", unit: "ms", count, days: DAYS, first, asIs, slowed }),
);

function send(method: string, path: string, body: unknown): Promise<Response> {
  return fetch(`${host.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${host.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function measure(rounds: number): Promise<Times[]> {
  const times: Times[] = [];
  for (let round = 0; round < rounds; round++) {
    times.push(await timesIn(page));
    await delay(PAUSE_MS);
  }
  return times;
}

function timesIn(at: Page): Promise<Times> {
  return at.evaluate<Times>("measureDetails()");
}

function summed(times: readonly Times[]): Record<keyof Times, unknown> {
  return {
    opened: summarise(times.map(({ opened }) => opened)),
    chart: summarise(times.map(({ chart }) => chart)),
    thirtyDays: summarise(times.map(({ thirtyDays }) => thirtyDays)),
  };
}

/** Writes a temperature for each minute of the last 30 days. */
async function fillHistory(): Promise<void> {
  const folder = join(home.data, "history");
  await mkdir(folder, { recursive: true });
  const now = Date.now();
  let clock = now - DAYS * 24 * HOUR_MS;
  const recorder = new Recorder(
    () => SqliteStorage.open(join(folder, "history.sqlite"), 0),
    { rawDays: 10, logbookDays: 90, maxBytes: 2 ** 30, exceptions: {} },
    { warn: console.warn, degraded: () => undefined },
    () => clock,
  );
  await recorder.open();
  const series = { id: 1, device: HEATING.id, field: "temperature", unit: "°C", isCounter: false };
  await recorder.record({ ...NOTHING_NEW, devices: [HEATING], series: [series] });
  for (; clock < now; clock += HOUR_MS) {
    const at = Array.from({ length: 60 }, (_, minute) => clock + minute * MINUTE_MS);
    const value = at.map((time) => Math.round(190 + 15 * Math.sin(time / 9e6)) / 10);
    const points = { series: at.map(() => 1), at, value };
    await recorder.record({ ...NOTHING_NEW, points });
    while (await recorder.maintain(clock + HOUR_MS));
  }
  await recorder.close();
}

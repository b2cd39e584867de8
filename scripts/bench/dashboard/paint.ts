import { setTimeout as delay } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { until } from "../../../test/helpers/until.ts";
import type { Served } from "../bench-home.ts";
import { summarise, type Summary } from "../shared/figures.ts";
import { openPage } from "./page.ts";

const PAUSE_MS = 200;
const PATIENCE = { withinMs: 60_000 };
/** Records the time at which all tiles have drawn their widgets: the frame after the last one. */
const TILE_WATCH = `
globalThis.bench = { tilesAt: undefined };
new MutationObserver((_, watch) => {
  const tiles = document.querySelectorAll(".tile").length;
  if (tiles === 0 || document.querySelectorAll(".tile > .widget:not(.waiting)").length < tiles) return;
  watch.disconnect();
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => (bench.tilesAt = performance.now());
    port2.postMessage(undefined);
  });
}).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] });
`;

/** Times in ms from the start of the navigation (Paint Timing, W3C). */
interface Painted {
  readonly firstContent: Summary;
  /** The time at which every tile of the first page shows its widget. */
  readonly allTiles: Summary;
}

export interface Loads {
  /** Loads with an empty browser cache. */
  readonly cold: Painted;
  /** Repeated loads, with a filled cache. */
  readonly warm: Painted;
}

/** Loads the dashboard `count` times with an empty cache, and each time once more with the filled cache. */
export async function measureLoads(
  browser: Browser,
  host: Served,
  { count, slowDown }: { count: number; slowDown: number },
): Promise<Loads> {
  const cold: Times[] = [];
  const warm: Times[] = [];
  for (let round = 0; round < count; round++) {
    const { page, close } = await openPage(browser, slowDown);
    await watchTiles(page);
    await page.goto(await makeLink(host));
    cold.push(await timesOf(page));
    await delay(PAUSE_MS);
    await page.reload();
    warm.push(await timesOf(page));
    await close();
  }
  return { cold: summed(cold), warm: summed(warm) };
}

/** A sign-in link for one browser. */
async function makeLink({ url, token }: Served): Promise<string> {
  const made = await fetch(`${url}/api/v1/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "bench", scope: ["admin"] }),
  });
  return `${url}/#token=${((await made.json()) as { token: string }).token}`;
}

/** Makes the next page record when all its tiles have drawn. */
export async function watchTiles(page: Page): Promise<void> {
  await page.addInitScript(TILE_WATCH);
}

/** The time at which every tile of a watched page had drawn its widget, in ms from the start of the navigation. */
export async function allTilesAt(page: Page): Promise<number> {
  const at = await until(
    () => page.evaluate<number | undefined>("globalThis.bench?.tilesAt"),
    PATIENCE,
  );
  return Math.round(at);
}

/** The paint time of a page with one word in this browser: the lower bound for any dashboard. */
export async function measureFloor(
  browser: Browser,
  url: string,
  { count, slowDown }: { count: number; slowDown: number },
): Promise<Summary> {
  const times: number[] = [];
  for (let round = 0; round < count; round++) {
    const { page, close } = await openPage(browser, slowDown);
    await page.goto(url);
    times.push(await firstContentOf(page));
    await close();
  }
  return summarise(times);
}

interface Times {
  readonly firstContent: number;
  readonly allTiles: number;
}

async function timesOf(page: Page): Promise<Times> {
  return { allTiles: await allTilesAt(page), firstContent: await firstContentOf(page) };
}

function firstContentOf(page: Page): Promise<number> {
  const entry = `performance.getEntriesByName("first-contentful-paint")[0]?.startTime`;
  return until(() => page.evaluate<number | undefined>(entry), PATIENCE);
}

function summed(times: readonly Times[]): Painted {
  return {
    firstContent: summarise(times.map(({ firstContent }) => firstContent)),
    allTiles: summarise(times.map(({ allTiles }) => allTiles)),
  };
}

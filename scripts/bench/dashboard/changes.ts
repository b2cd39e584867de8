import { setTimeout as delay } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import { rounded } from "../shared/figures.ts";

const SETTLE_MS = 2_000;
/** Counts the changed tiles in each turn of the page and records their names. */
const REPAINT_WATCH = `
bench.repaints = 0;
bench.names = new Set();
for (const { shadowRoot } of document.querySelectorAll(".tile > .widget")) {
  new MutationObserver((records) => {
    const tiles = new Set(records.map(({ target }) =>
      (target instanceof Element ? target : target.parentElement)?.closest("[aria-label]")));
    bench.repaints += tiles.size;
    for (const tile of tiles) bench.names.add(tile?.getAttribute("aria-label") ?? "no tile");
  }).observe(shadowRoot, { subtree: true, childList: true, attributes: true, characterData: true });
}
`;
const LONG_TASKS = `
globalThis.bench = { ...globalThis.bench, tasks: [] };
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) bench.tasks.push(duration);
}).observe({ type: "longtask" });
`;

/** The load of a page's main thread over some seconds. */
export interface MainThreadLoad {
  /** Changes per second. */
  readonly perSecond: number;
  /** The share of time in which the main thread ran tasks, in percent. */
  readonly busyPercent: number;
  /** The longest task in ms, and the number of tasks over 50 ms. */
  readonly longestTask: number;
  readonly longTasks: number;
}

/** The source of changes that a benchmark turns on and off. */
interface Changes {
  begin(): Promise<void>;
  end(): Promise<number>;
}

export async function measureBusy(
  { page, session }: { page: Page; session: CDPSession },
  changes: Changes,
  seconds: number,
): Promise<MainThreadLoad> {
  await page.evaluate(LONG_TASKS);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await changes.begin();
  const startedAt = performance.now();
  await delay(SETTLE_MS);
  await page.evaluate("bench.tasks.length = 0");
  const before = await readTasks(session);
  await delay(seconds * 1_000);
  const after = await readTasks(session);
  const count = await changes.end();
  const elapsed = (performance.now() - startedAt) / 1_000;
  const tasks = await page.evaluate<number[]>("bench.tasks");
  return {
    perSecond: Math.round(count / elapsed),
    busyPercent: rounded((100 * (after.busy - before.busy)) / (after.at - before.at)),
    longestTask: Math.round(Math.max(0, ...tasks)),
    longTasks: tasks.length,
  };
}

/** The number of redrawn tiles, and of the lamps that they show. */
export async function measureRepaints(page: Page, changes: Changes, seconds: number) {
  await delay(SETTLE_MS); // until earlier changes are drawn
  await page.evaluate(REPAINT_WATCH);
  await changes.begin();
  await delay(seconds * 1_000);
  const count = await changes.end();
  await delay(SETTLE_MS);
  const names = await page.evaluate<string[]>("[...bench.names]");
  return {
    changes: count,
    tilesRepainted: await page.evaluate<number>("bench.repaints"),
    differentTiles: names.length,
  };
}

async function readTasks(session: CDPSession): Promise<{ at: number; busy: number }> {
  const { metrics } = await session.send("Performance.getMetrics");
  const busy = metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
  return { at: performance.now() / 1_000, busy };
}

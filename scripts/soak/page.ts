import { setTimeout as delay } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import { launchBrowser } from "../../test/helpers/browser.ts";
import type { Reading } from "./reading.ts";

const USUAL_DEADLINE_MS = 20_000;
const POLL_MS = 5;

/** A page of a real Chromium with a debugging connection for its counters. */
export interface SoakPage {
  readonly page: Page;
  readonly session: CDPSession;
  readonly close: () => Promise<void>;
}

/** Opens a page. `prepare` runs before it navigates to `url`. */
export async function openPage(
  url: string,
  prepare: (page: Page) => Promise<void> = async () => undefined,
): Promise<SoakPage> {
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await prepare(page);
  await page.goto(url);
  const session = await page.context().newCDPSession(page);
  return { page, session, close: () => browser.close() };
}

/** Waits until an expression is true. Avoids Playwright's helpers, which leave objects in the page. */
export async function waitForExpression(
  session: CDPSession,
  expression: string,
  withinMs = USUAL_DEADLINE_MS,
): Promise<void> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    const { result } = await session.send("Runtime.evaluate", { expression, returnByValue: true });
    if (result.value === true) return;
    await delay(POLL_MS);
  }
  throw new Error(`timeout in the page waiting for ${expression}`);
}

/** The resources of a page after a full garbage collection. */
export async function readPage(session: CDPSession): Promise<Reading> {
  await session.send("HeapProfiler.collectGarbage");
  const { documents, nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return {
    pageHeapMiB: Math.round((usedSize / 2 ** 20) * 100) / 100,
    pageNodes: nodes,
    pageListeners: jsEventListeners,
    pageDocuments: documents,
  };
}

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { TestContext } from "node:test";
import {
  type Browser,
  type ConsoleMessage,
  type BrowserServer,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import { loadNow } from "./until.ts";

/** The first has no window and no settings of its own; pages take a third less CPU time in it. */
const INSTALLED = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const CHROMIUM = process.env["CHROMIUM_PATH"] ?? INSTALLED.find(existsSync) ?? "";
/** With the frames of other origins in processes of their own, as in a browser with a window. */
const LAUNCH = { executablePath: CHROMIUM, args: ["--disable-quic", "--site-per-process"] };
/** Time within which a page shows what a test waits for; a slow machine runs other tests beside it. */
const DEADLINE_MS = 10_000;

/** A page of a real browser, with everything it complained about. */
export interface TestPage {
  readonly page: Page;
  /** Uncaught errors and what the console says of errors, refused content among it. */
  readonly faults: readonly string[];
}

/** True if there is a browser that can be launched. */
export const hasBrowser = (): boolean => existsSync(CHROMIUM);

/** A Chromium that its caller closes. Playwright itself keeps it from updates, sync and first runs. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch(LAUNCH);
}

/** One Chromium for all tests of a run, if there is one; `openBrowser` finds it by `TEST_BROWSER`. */
export async function serveBrowser(): Promise<BrowserServer | undefined> {
  return hasBrowser() ? chromium.launchServer(LAUNCH) : undefined;
}

/** The Chromium that the tests of a run share, or one of its own. Its caller closes it. */
export function connectBrowser(): Promise<Browser> {
  const shared = process.env["TEST_BROWSER"];
  return shared ? chromium.connect(shared) : launchBrowser();
}

/** A browser that is closed when the test ends. It has contexts of its own where the Chromium is shared. */
export async function openBrowser(t: TestContext): Promise<Browser> {
  const browser = await connectBrowser();
  t.after(() => browser.close());
  return browser;
}

/**
 * A page with storage of its own, at a wall tablet's size, which shows `url`. Without `serviceWorker` it has none: the
 * worker stores all files of the dashboard, which takes a quarter of the CPU time of opening the page.
 */
export async function openPage(
  t: TestContext,
  browser: Browser,
  url: string,
  { firstSteps = false, serviceWorker = false } = {},
): Promise<TestPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: "dark",
    serviceWorkers: serviceWorker ? "allow" : "block",
  });
  context.setDefaultTimeout(DEADLINE_MS * loadNow());
  t.after(() => context.close());
  if (!firstSteps) {
    await context.addInitScript(HIDE_FIRST_STEPS);
  }
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(messageOf(message));
  });
  await page.goto(url);
  return { page, faults };
}

/** The words of a message; of a request that failed also its address. */
function messageOf(message: ConsoleMessage): string {
  const isRequest = message.text().startsWith("Failed to load resource");
  return isRequest ? `${message.text()} ${message.location().url}` : message.text();
}

/** Not in the frames of widgets, which have no storage. */
const HIDE_FIRST_STEPS = `if (window === top) localStorage.setItem("mantel.first-steps-hidden", "yes")`;

/** A place in the window, in CSS pixels. */
interface Place {
  readonly x: number;
  readonly y: number;
}

/**
 * Presses the mouse at a place and moves it to another one, without lifting it. The first move is sent with the press,
 * because a press that rests for half a second is a long one: a busy machine may take as long between two requests.
 */
export async function beginDrag(
  page: Page,
  from: Place,
  to: Place,
  { steps = 12 } = {},
): Promise<void> {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const share = Math.min(1, 12 / Math.hypot(dx, dy));
  await page.mouse.move(from.x, from.y);
  await Promise.all([page.mouse.down(), page.mouse.move(from.x + dx * share, from.y + dy * share)]);
  await page.mouse.move(to.x, to.y, { steps });
}

/** Where something is drawn, in CSS pixels of the window. */
export interface Box extends Place {
  readonly width: number;
  readonly height: number;
}

/** Where one element is drawn when it has come to rest; fails when it is not drawn. */
export async function boxOf(element: Locator): Promise<Box> {
  const handle = await element.elementHandle();
  await handle?.waitForElementState("stable");
  const box = await element.boundingBox();
  assert.ok(box);
  return box;
}

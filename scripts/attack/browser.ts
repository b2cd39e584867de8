import type { Page } from "playwright-core";

/** A page of a real browser, with storage of its own. */
export interface BrowserPage {
  readonly page: Page;
  readonly close: () => Promise<void>;
}

/** Playwright is large, and only some attacks need it. */
const loadBrowsers = () => import("../../test/helpers/browser.ts");

/** Says that this machine has no browser, if so. */
export async function withoutBrowser(): Promise<string | undefined> {
  const { hasBrowser } = await loadBrowsers();
  return hasBrowser() ? undefined : "there is no Chromium; CHROMIUM_PATH may name one";
}

/** Opens an empty page; its caller closes it. */
export async function openPage(): Promise<BrowserPage> {
  const browser = await (await loadBrowsers()).connectBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const close = async (): Promise<void> => {
    await context.close();
    await browser.close();
  };
  return { page: await context.newPage(), close };
}

import type { Browser, CDPSession, Page } from "playwright-core";

const DEADLINE_MS = 60_000;
const SCREEN = { width: 1280, height: 800 };

/** A page in the size of a wall tablet, with a Chrome DevTools Protocol session for measurements. */
export interface MeasuredPage {
  readonly page: Page;
  readonly session: CDPSession;
  readonly close: () => Promise<void>;
}

/** Opens a page with empty cache and storage. `slowDown` is the factor of CPU throttling. */
export async function openPage(browser: Browser, slowDown = 1): Promise<MeasuredPage> {
  const context = await browser.newContext({ viewport: SCREEN, colorScheme: "dark" });
  context.setDefaultTimeout(DEADLINE_MS);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  if (slowDown > 1) await session.send("Emulation.setCPUThrottlingRate", { rate: slowDown });
  return { page, session, close: () => context.close() };
}

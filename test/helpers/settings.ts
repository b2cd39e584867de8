import type { TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openPage } from "./browser.ts";
import type { TestHost } from "./host.ts";

export interface Fixture {
  readonly host: TestHost;
  readonly browser: Browser;
}

/** A page of the settings, such as `modules/hue`, as an admin sees it; empty for their first page. */
export async function visitSettings(
  t: TestContext,
  { host, browser }: Fixture,
  address: string,
): Promise<Page> {
  const url = await host.link("admin", host.url); // a test may lay a line of its own
  const { page } = await openPage(t, browser, url);
  await page.getByRole("link", { name: "Settings" }).waitFor();
  if (address !== "") await page.evaluate(`location.hash = "#/settings/${address}"`);
  return page;
}

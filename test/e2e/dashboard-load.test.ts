import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser } from "../helpers/browser.ts";
import { startHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

test("a page is drawn in its theme before the host has sent any data", async (t) => {
  const host = await startHost(t, { plugins: ["plugins/clock-widget"], trusted: "all" });
  const browser = await openBrowser(t);
  const context = await browser.newContext({ colorScheme: "light" });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.route(`${host.url}/api`, () => undefined); // never answered

  await page.goto(await host.link("read"), { waitUntil: "commit" });
  await until(() =>
    page.evaluate(`performance.getEntriesByName("first-contentful-paint").length === 1`),
  );

  assert.equal(await page.locator("html").getAttribute("data-theme"), "light");
  assert.equal(page.url(), `${host.url}/`, "the token is gone from the address");
  assert.equal(await page.locator(".tile").count(), 0);
});

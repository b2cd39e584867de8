import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
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

test("a change that happens while a page reads the home for the first time is shown", async (t) => {
  const host = await startHost(t, {
    plugins: ["plugins/demo-home", "plugins/room-widget"],
    trusted: "all",
  });
  const lamp = await until(async () => {
    const answer = await host.api("/smart-home/devices");
    const { devices } = (await answer.json()) as { devices: readonly Device[] };
    return devices.find(({ name }) => name === "Ceiling");
  });
  const device = { ...lamp, name: "Chandelier", revision: lamp.revision + 1_000 };
  const browser = await openBrowser(t);
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  let streams = 0;
  await page.route("**/api/v1/events", (route) =>
    streams++ === 0
      ? route.fulfill({
          contentType: "text/event-stream",
          body: `event: device.state\ndata: ${JSON.stringify({ device })}\n\n`,
        })
      : route.abort(),
  );
  await page.route("**/api/v1/smart-home/devices", async (route) => {
    await until(() => streams > 1); // the event has been read, and its stream has ended
    await route.continue();
  });

  await page.goto(await host.link("read"));

  await page.getByRole("slider", { name: device.name }).waitFor();
  assert.equal(await page.getByRole("slider", { name: lamp.name }).count(), 0);
});

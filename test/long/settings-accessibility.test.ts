import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser } from "../helpers/browser.ts";
import { startHost } from "../helpers/host.ts";
import { visitSettings } from "../helpers/settings.ts";
import { until } from "../helpers/until.ts";

const PLUGINS = ["demo-home", "calendar", "room-widget", "hue", "home-assistant", "photo-widget"];
const PAGES = [
  ...[
    "general",
    "rooms",
    "devices",
    "scenes",
    "calendars",
    "place",
    "photos",
    "access",
    "displays",
  ],
  ...["notifications", "backup", "advanced", "modules", "bridges", "about"],
];
const SCREENS = [
  ["dark", 1280, 800],
  ["light", 390, 844],
] as const;

test("every page of the settings is accessible, wide and narrow, dark and light", async (t) => {
  const plugins = PLUGINS.map((id) => `plugins/${id}`);
  const fixture = {
    browser: await openBrowser(t),
    host: await startHost(t, { plugins, trusted: "all" }),
  };
  await until(async () => (await fixture.host.api("/health/ready")).ok, { withinMs: 20_000 });
  const page = await visitSettings(t, fixture, "modules");
  const asked = followRequests(page);
  const pictures = process.env["MANTEL_SCREENSHOTS"];
  if (pictures !== undefined) await mkdir(pictures, { recursive: true });
  for (const [theme, width, height] of SCREENS) {
    await page.setViewportSize({ width, height });
    await fixture.host.api("/config", { method: "PATCH", json: { ui: { theme } } });
    await page.locator(`:root[data-theme=${theme}]`).waitFor();
    for (const address of [...PAGES, "modules/calendar", "modules/hue", "devices/demo:light:1"]) {
      await page.evaluate(`location.hash = "#/settings/${address}"`);
      await page.locator(`.settings main[data-page="${address}"]`).waitFor();
      await until(() => asked.size === 0, { withinMs: 20_000 });
      await assertAccessible(page);
      if (pictures === undefined) continue;
      const name = `settings-${address.replaceAll(/[/:]/g, "-")}-${theme}.png`;
      await page.screenshot({ path: join(pictures, name) });
    }
  }
});

test("with forced colours, icons have the colour of their text, and switches and accents can be seen", async (t) => {
  const fixture = {
    browser: await openBrowser(t),
    host: await startHost(t, { plugins: ["plugins/demo-home"] }),
  };
  const page = await visitSettings(t, fixture, "general");
  await page.emulateMedia({ forcedColors: "active" });
  await page.locator(".settings .swatch").first().waitFor();

  const unlike = await page.evaluate<string[]>(
    `[...document.querySelectorAll("mantel-icon")]
      .filter((icon) => getComputedStyle(icon).color !== getComputedStyle(icon.parentElement).color)
      .map((icon) => icon.getAttribute("name"))`,
  );
  const unseen = await page.evaluate<string[]>(
    `[...document.querySelectorAll("[role=switch]")]
      .filter((each) => getComputedStyle(each).backgroundColor === getComputedStyle(each, "::after").backgroundColor)
      .map((each) => each.id)`,
  );
  const accents = await page.evaluate<number>(
    `new Set([...document.querySelectorAll(".swatch")].map((each) => getComputedStyle(each).backgroundColor)).size`,
  );

  assert.deepEqual([unlike, unseen], [[], []]);
  assert.ok(accents > 3, String(accents));
});

/** The open requests of a page, without the event stream, which does not end. */
function followRequests(page: Page): ReadonlySet<object> {
  const asked = new Set<object>();
  page.on("request", (request) => {
    if (!request.url().endsWith("/events")) asked.add(request);
  });
  page.on("requestfinished", (request) => asked.delete(request));
  page.on("requestfailed", (request) => asked.delete(request));
  return asked;
}

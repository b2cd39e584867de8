import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";

const PLUGINS = ["demo-home", "room-widget", "device-widget", "automations", "recorder"];
const SCREENS = [
  ["dark", 1280, 800],
  ["light", 390, 844],
  ["dark", 320, 700],
] as const;

test("automations, the logbook and the history", async (t) => {
  const plugins = PLUGINS.map((id) => `plugins/${id}`);
  const [browser, host] = await Promise.all([
    openBrowser(t),
    startHost(t, { plugins, trusted: "all" }),
  ]);
  await until(async () => (await host.api("/health/ready")).ok, { withinMs: 20_000 });
  const { page, faults } = await openPage(t, browser, await host.link("admin"));

  await t.test("an automation is put together, saved and tried", () => makes(page, host));
  await t.test("the logbook says why a lamp is on, and puts it back", () => explains(page, host));
  await t.test("the sheet of a device has seven days and who switched it", () => shows(page));
  await t.test("the pages are accessible, wide and narrow, dark and light", () =>
    looks(page, host),
  );
  assert.deepEqual(faults, []);
});

async function makes(page: Page, host: TestHost): Promise<void> {
  await page.getByRole("link", { name: "Automations" }).click();
  await page.getByRole("link", { name: /^Empty/ }).click();
  await page.getByLabel("Name").fill("Evening");
  await page.getByRole("button", { name: "Add a trigger" }).click();
  await page.getByRole("button", { name: "A time" }).click();
  await page.getByLabel("Time", { exact: true }).fill("19:30");
  await page.getByLabel("Time", { exact: true }).blur();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Add an action" }).click();
  await page.getByRole("button", { name: "Control a device" }).click();
  await page.getByLabel("Device", { exact: true }).selectOption({ label: "Ceiling · Living room" });
  await page.getByLabel(/^Brightness/).fill("44");
  await page.getByLabel(/^Brightness/).blur();
  await page.getByRole("button", { name: "turn on Ceiling, 44%" }).waitFor();
  await page.getByRole("button", { name: "Save and try" }).click();
  await page.locator(".steps").getByText("turn on Ceiling, 44%").waitFor();
  await page.locator(".runs").getByText("ran to the end").first().waitFor();

  const { automations } = (await (await host.api("/automations")).json()) as {
    automations: readonly { name: string; id: string }[];
  };
  assert.deepEqual(
    automations.map(({ name }) => name),
    ["Evening"],
  );
  assert.equal(new URL(page.url()).hash, `#/automations/${automations[0]?.id}`);
}

async function explains(page: Page, host: TestHost): Promise<void> {
  await page.evaluate(`location.hash = "#/logbook"`);
  const entry = page.locator("article").filter({ hasText: "Automation “Evening”" });
  await until(async () => {
    if ((await entry.count()) > 0) return true;
    await page.getByRole("button", { name: "Load again" }).click();
    await page.locator("main[aria-busy=false]").waitFor();
    return false;
  });
  await entry.getByRole("button", { name: /^Ceiling/ }).click();
  const why = page.getByRole("complementary", { name: "Why did Ceiling change?" });
  await why.getByText("an automation").waitFor();
  await why.getByRole("button", { name: "Put it back: Ceiling off" }).click();
  await page.getByRole("status").getByText("Ceiling is back as it was").waitFor();

  const { devices } = (await (await host.api("/smart-home/devices")).json()) as {
    devices: readonly { name: string; state: { on?: boolean } }[];
  };
  assert.equal(devices.find(({ name }) => name === "Ceiling")?.state.on, false);
}

async function shows(page: Page): Promise<void> {
  await page.evaluate(`location.hash = "#home"`);
  const ceiling = page.getByRole("slider", { name: "Ceiling" });
  await ceiling.click({ button: "right" });
  const sheet = page.getByRole("dialog", { name: "Ceiling" });
  await sheet
    .getByRole("region", { name: "Who switched it" })
    .getByText(/Evening/)
    .waitFor();
  await page.keyboard.press("Escape");
  await page.evaluate(`location.hash = "#climate"`);
  await page.locator("[data-details^='demo:sensor']:visible").first().click({ button: "right" });
  await page.getByRole("button", { name: "7 d" }).click();
  await page.getByRole("region", { name: "Last 7 days" }).getByRole("slider").press("ArrowLeft");
  await page.keyboard.press("Escape");
}

async function looks(page: Page, host: TestHost): Promise<void> {
  const folder = process.env["MANTEL_SCREENSHOTS"];
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const { automations } = (await (await host.api("/automations")).json()) as {
    automations: readonly { id: string }[];
  };
  const addresses = ["automations", `automations/${automations[0]?.id}`, "logbook"];
  for (const [theme, width, height] of SCREENS) {
    await page.setViewportSize({ width, height });
    await host.api("/config", { method: "PATCH", json: { ui: { theme } } });
    await page.locator(`:root[data-theme=${theme}]`).waitFor();
    for (const address of addresses) {
      await page.evaluate(`location.hash = "#/${address}"`);
      await page.locator(".overlay :is(.row, .steps, article)").first().waitFor();
      await assertAccessible(page);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false);
      if (folder === undefined) continue;
      const name = `${address.replaceAll("/", "-")}-${theme}-${width}.png`;
      await page.screenshot({ path: join(folder, name) });
    }
  }
}

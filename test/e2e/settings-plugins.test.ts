import assert from "node:assert/strict";
import { test } from "node:test";
import type { PluginView } from "../../host/api/plugin.ts";
import { hasBrowser, openBrowser } from "../helpers/browser.ts";
import { startHost } from "../helpers/host.ts";
import { visitSettings } from "../helpers/settings.ts";
import { until } from "../helpers/until.ts";
import { writePlugin } from "../helpers/written-plugin.ts";

const skip = hasBrowser() ? false : "Chromium is not installed";

test(
  "a plugin in a folder is installed in the settings, consented to, shown and removed",
  { skip },
  async (t) => {
    const folder = await writePlugin(t);
    const host = await startHost(t, { plugins: ["plugins/clock-widget"] });
    const page = await visitSettings(t, { host, browser: await openBrowser(t) }, "plugins");
    const installed = async () =>
      ((await (await host.api("/plugins")).json()) as { plugins: PluginView[] }).plugins;

    await page.getByText("No plugins are installed").waitFor();
    await page.getByLabel("Source").fill(folder);
    await page.getByRole("button", { name: "Install", exact: true }).click();
    const row = page.getByRole("link", { name: /Echo/ });
    await row.getByText("Needs more permissions").waitFor();
    assert.deepEqual(
      (await installed()).map(({ id, running }) => [id, running]),
      [["echo", null]],
    );

    await row.click();
    await page.getByRole("listitem").getByText("connect to a.test").first().waitFor();
    await page.getByRole("region", { name: "README" }).getByText("Echo").waitFor();
    const width = `document.querySelector("h2 img.plugin-icon").naturalWidth`;
    await until(async () => (await page.evaluate(width)) === 2);
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await until(async () => (await installed())[0]?.state === "active", { withinMs: 20_000 });
    await page.getByRole("button", { name: "Allow", exact: true }).waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Remove Echo" }).click();
    await page.getByRole("button", { name: "Confirm: Remove Echo" }).click();
    await until(async () => (await installed()).length === 0, { withinMs: 20_000 });
  },
);

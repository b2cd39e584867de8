import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ModuleView } from "../../host/api/module.ts";
import { openBrowser } from "../helpers/browser.ts";
import { startHost } from "../helpers/host.ts";
import { type Fixture, visitSettings } from "../helpers/settings.ts";
import { until } from "../helpers/until.ts";

const PLUGINS = ["demo-home", "calendar", "clock-widget", "room-widget", "system"];

test("modules in the settings", async (t) => {
  const plugins = PLUGINS.map((id) => `plugins/${id}`);
  const fixture: Fixture = {
    browser: await openBrowser(t),
    host: await startHost(t, { plugins, trusted: "all" }),
  };
  await until(async () => (await fixture.host.api("/health/ready")).ok, { withinMs: 20_000 });

  await t.test("are shown, reloaded, and switched off and on", (each) => runs(each, fixture));
  await t.test("are rolled back, and reloaded with the code on the disk", (each) =>
    rollsBack(each, fixture),
  );
  await t.test("have their options changed by a form", (each) => changesOptions(each, fixture));
});

async function runs(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "modules/demo-home");
  const state = async () => {
    const answer = await fixture.host.api("/modules/demo-home");
    return ((await answer.json()) as { state: string }).state;
  };

  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("status").getByText("Reloaded").waitFor();
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("button", { name: "Confirm: Disable" }).click();
  await until(async () => (await state()) === "disabled", { withinMs: 20_000 });
  await page.getByRole("button", { name: "Enable" }).click();

  await until(async () => (await state()) === "active", { withinMs: 20_000 });
  await page.getByRole("log").waitFor();
}

async function rollsBack(t: TestContext, fixture: Fixture): Promise<void> {
  const { api, plugins } = fixture.host;
  const page = await visitSettings(t, fixture, "modules/clock-widget");
  const read = async (id: string) => (await (await api(`/modules/${id}`)).json()) as ModuleView;
  const before = (await read("clock-widget")).widget?.hash;
  const back = page.getByRole("button", { name: "Roll back" });
  const other = "\nconsole.debug('other code');\n";
  await appendFile(join(plugins, "clock-widget/widget.ts"), other);
  await appendFile(join(plugins, "system/index.ts"), other);

  await back.click();
  await page.getByRole("status").getByText("Rolled back").waitFor();
  await page.getByText(/previous version runs until/).waitFor();
  await back.waitFor({ state: "detached" });
  assert.equal((await read("clock-widget")).widget?.hash, before);
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("status").getByText("Reloaded").waitFor();
  await page.getByText(/previous version runs until/).waitFor({ state: "detached" });

  await page.evaluate(`location.hash = "#/settings/modules/system"`);
  await page.getByRole("heading", { name: "System" }).waitFor();
  await back.click();
  await page.getByText(/previous version runs until/).waitFor();
  assert.equal((await read("system")).generation, 3);
}

async function changesOptions(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "modules/calendar");
  const field = page.getByLabel("Default days");

  await field.fill("400");
  await field.blur();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText(/./).waitFor();
  await field.fill("21");
  await field.blur();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();

  const { config } = (await (await fixture.host.api("/config")).json()) as {
    config: { calendar: { defaultDays: number } };
  };
  assert.equal(config.calendar.defaultDays, 21);
}

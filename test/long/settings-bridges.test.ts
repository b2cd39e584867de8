import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { FakeHomeAssistant } from "../fakes/home-assistant.ts";
import { type FakeHueBridge, startHueBridge } from "../fakes/hue-bridge.ts";
import { openBrowser } from "../helpers/browser.ts";
import { startHost } from "../helpers/host.ts";
import { type Fixture, visitSettings } from "../helpers/settings.ts";
import { picture } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

test("bridges in the settings", async (t) => {
  const [browser, bridge, homeAssistant] = await Promise.all([
    openBrowser(t),
    startHueBridge(t),
    FakeHomeAssistant.start(t),
  ]);
  const plugins = ["plugins/hue", "plugins/home-assistant"];
  const fixture: Fixture = { browser, host: await startHost(t, { plugins, trusted: "all" }) };
  await until(async () => (await fixture.host.api("/health/ready")).ok, { withinMs: 20_000 });

  await t.test("a Hue bridge is paired step by step, until its lights appear", (each) =>
    pairs(each, fixture, bridge),
  );
  await t.test("its entry can be changed, and its secret is not in the page", (each) =>
    changesEntry(each, fixture, bridge),
  );
  await t.test("a second entry is added, renamed and removed", (each) =>
    addsEntry(each, fixture, bridge),
  );
  await t.test("a connection is tested before it is saved, and a failure is reported", (each) =>
    triesOut(each, fixture, homeAssistant),
  );
});

async function pairs(t: TestContext, fixture: Fixture, bridge: FakeHueBridge): Promise<void> {
  const page = await visitSettings(t, fixture, "bridges");

  await page.getByRole("link", { name: /Philips Hue/ }).click();
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText(/Where is it\?/).waitFor();
  await page.getByRole("textbox", { name: "Address" }).fill("not an address");
  await page.getByRole("textbox", { name: "Address" }).blur();
  await page.getByRole("button", { name: "Next" }).click();
  await page
    .locator(".fault")
    .getByText(/not an address/)
    .waitFor();
  await page.getByRole("textbox", { name: "Address" }).fill(bridge.address);
  await page.getByRole("textbox", { name: "Address" }).blur();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("Press the round button on the bridge").waitFor();
  await picture(page, "hue-pairing");
  bridge.pressButton();

  await page.getByText("Done. The result is saved.").waitFor();
  await page.locator("main .state").getByText("Running").waitFor();
  await page.getByRole("link", { name: "Devices" }).click();
  await page.getByRole("link", { name: /hue:light:1/ }).waitFor();
}

async function changesEntry(
  t: TestContext,
  fixture: Fixture,
  bridge: FakeHueBridge,
): Promise<void> {
  const page = await visitSettings(t, fixture, "modules/hue");
  const entry = page.locator("details.entry");

  await entry.getByText(bridge.id, { exact: true }).click();
  await entry.getByLabel("Address").fill("somewhere else!");
  await entry.getByLabel("Address").blur();
  await page.getByRole("button", { name: "Save" }).click();
  await entry
    .locator(".fault")
    .getByText(/somewhere else!/)
    .waitFor();
  await picture(page, "hue-entry");
  await entry.getByLabel("Address").fill(bridge.address.replace("127.0.0.1", "localhost"));
  await entry.getByLabel("Address").blur();
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);

  const key = entry.getByLabel("Application key");
  assert.equal(await key.getAttribute("placeholder"), "Already set; type to replace it");
  assert.doesNotMatch(await page.content(), new RegExp(bridge.key));
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByRole("status").getByText(`${bridge.id} answers`).waitFor();
}

async function addsEntry(t: TestContext, fixture: Fixture, bridge: FakeHueBridge): Promise<void> {
  const page = await visitSettings(t, fixture, "modules/hue");
  const entry = page.locator("details.entry").last();
  const type = async (label: string, text: string) => {
    await entry.getByLabel(label).fill(text);
    await entry.getByLabel(label).blur();
  };
  const bridges = async () => {
    const { config } = (await (await fixture.host.api("/config")).json()) as {
      config: { hue: { bridges: object } };
    };
    return Object.keys(config.hue.bridges);
  };

  await page.getByRole("button", { name: "Add: Bridges" }).click();
  await entry.getByText("An ID is required.").waitFor();
  await type("ID", "kitchen");
  await entry.getByText(/The ID must match/).waitFor();
  await type("ID", "00112233445566aa");
  await type("Address", bridge.address);
  await type("Fingerprint", bridge.fingerprint);
  await page.getByRole("button", { name: "Save" }).click();
  await entry.getByText("is missing").waitFor();
  await type("Application key", "some-key");
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);
  assert.deepEqual(await bridges(), [bridge.id, "00112233445566aa"]);

  await type("ID", "00112233445566bb");
  const key = entry.getByLabel("Application key");
  assert.equal(await key.getAttribute("placeholder"), null, "the secret is not that of the new id");
  await type("Application key", "another-key");
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);
  assert.deepEqual(await bridges(), [bridge.id, "00112233445566bb"]);

  await page.getByRole("button", { name: "Remove 00112233445566bb" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);
  assert.deepEqual(await bridges(), [bridge.id]);
}

async function triesOut(t: TestContext, fixture: Fixture, fake: FakeHomeAssistant): Promise<void> {
  const page = await visitSettings(t, fixture, "modules/home-assistant");
  const tryWith = async (token: string) => {
    await page.getByLabel("Access token").fill(token);
    await page.getByLabel("Access token").blur();
    await page.getByRole("button", { name: "Test" }).click();
  };

  await page.getByLabel("Address").fill("ftp://home");
  await page.getByLabel("Address").blur();
  await tryWith(fake.token);
  await page
    .locator(".fault")
    .getByText(/ftp:\/\/home/)
    .waitFor();
  await page.getByLabel("Address").fill(fake.url);
  await page.getByLabel("Address").blur();
  await tryWith("a-wrong-token");
  await page.locator(".settings .said.failed").getByText(/./).waitFor();
  await picture(page, "test-failed");
  await tryWith(fake.token);

  await page
    .locator(".settings .said:not(.failed)")
    .getByText(/Home Assistant 20/)
    .waitFor();
  const module = (await (await fixture.host.api("/modules/home-assistant")).json()) as object;
  assert.equal("state" in module && module.state, "unconfigured", "a test stores nothing");
}

async function saved(page: Page): Promise<void> {
  await page.getByRole("status").getByText("Saved").waitFor();
}

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser } from "../helpers/browser.ts";
import { startHost } from "../helpers/host.ts";
import { openLine } from "../helpers/line.ts";
import { type Fixture, visitSettings } from "../helpers/settings.ts";
import { picture } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

test("forms in the settings", async (t) => {
  const plugins = ["demo-home", "calendar", "room-widget", "photo-widget"].map(
    (id) => `plugins/${id}`,
  );
  const fixture: Fixture = {
    browser: await openBrowser(t),
    host: await startHost(t, { plugins, trusted: "all" }),
  };
  await until(async () => (await fixture.host.api("/health/ready")).ok, { withinMs: 20_000 });

  await t.test("keep the input while offline, until it can be saved", (each) =>
    staysOffline(each, fixture),
  );
  await t.test("ask before unsaved input is discarded", (each) => holdsBack(each, fixture));
  await t.test("keep concurrent changes of another user", (each) => merges(each, fixture));
  await t.test("keep the input while the saved values are read again", (each) =>
    keepsTyped(each, fixture),
  );
  await t.test("report an invalid name at its field", (each) => saysAtField(each, fixture));
  await t.test("take pictures, make them smaller, and remove them", (each) =>
    takesPictures(each, fixture),
  );
  await t.test("revoke one of two tokens with the same name", (each) => revokesOne(each, fixture));
});

async function takesPictures(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "photos");
  await page.getByText("No pictures yet.").waitFor();
  const buffer = await drawnPicture(page, 3_000, 2_000);
  const chosen = [
    { name: "Garden.png", mimeType: "image/png", buffer },
    { name: "Garden.png", mimeType: "image/png", buffer },
    { name: "notes.png", mimeType: "image/png", buffer: Buffer.from("no picture") },
  ];

  await page.getByLabel("Add pictures").setInputFiles(chosen);
  await page.getByRole("alert").getByText("This browser cannot read notes.png").waitFor();
  await page.getByRole("button", { name: "Remove Garden 2.jpg" }).waitFor();
  await page.locator('canvas[data-drawn="/photos/Garden.jpg"]').waitFor();
  await assertAccessible(page);
  await picture(page, "settings-photos");
  const stored = Buffer.from(await (await fixture.host.api("/photos/Garden.jpg")).arrayBuffer());
  await page.getByLabel("Album for added pictures").fill("Holiday / 2026");
  await page.getByLabel("Add pictures").setInputFiles(chosen.slice(0, 1));
  await page.getByRole("alert").getByText("cannot be an album").waitFor();
  await page.getByLabel("Album for added pictures").fill("Holiday");
  await page.getByLabel("Add pictures").setInputFiles(chosen.slice(0, 1));
  await page.getByRole("heading", { name: "Holiday" }).waitFor();
  await page.locator('canvas[data-drawn="/photos/Garden.jpg?album=Holiday"]').waitFor();
  await picture(page, "settings-photos-albums");
  const size = await sizeOf(page, stored);
  await page.getByRole("button", { name: "Remove Garden.jpg" }).first().click();
  await page.locator("button.armed").click();
  await page.getByRole("status").getByText("Garden.jpg removed").waitFor();

  assert.deepEqual(size, [2_560, 1_707]);
  const { photos } = (await (await fixture.host.api("/photos")).json()) as {
    photos: { name: string; album?: string }[];
  };
  assert.deepEqual(
    photos.map(({ name, album }) => [name, album]),
    [
      ["Garden 2.jpg", undefined],
      ["Garden.jpg", "Holiday"],
    ],
  );
}

/** A PNG of this size, made by the browser. */
async function drawnPicture(page: Page, width: number, height: number): Promise<Buffer> {
  const url = await page.evaluate<string>(`(() => {
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: ${width}, height: ${height} });
    return canvas.toDataURL("image/png");
  })()`);
  return Buffer.from(url.replace(/^.*,/, ""), "base64");
}

async function sizeOf(page: Page, jpeg: Buffer): Promise<number[]> {
  return page.evaluate<number[]>(`(async () => {
    const bytes = Uint8Array.from(atob("${jpeg.toString("base64")}"), (c) => c.charCodeAt(0));
    const { width, height } = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
    return [width, height];
  })()`);
}

async function staysOffline(t: TestContext, fixture: Fixture): Promise<void> {
  const line = await openLine(t, fixture.host.url);
  const host = { ...fixture.host, url: line.url };
  const page = await visitSettings(t, { ...fixture, host }, "devices/demo:light:1");
  const name = page.getByLabel("Name");
  await name.fill("Reading lamp");

  line.cut();
  await page.getByText(/Offline for \d+ s/).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("Mantel cannot be reached").waitFor();
  await assertAccessible(page);
  await picture(page, "settings-offline");
  line.mend();
  await page.getByText(/Offline for/).waitFor({ state: "detached" });

  assert.equal(await name.inputValue(), "Reading lamp");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();
}

async function holdsBack(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "modules/calendar");
  const days = page.getByLabel("Default days");
  await days.fill("5");

  await page.getByRole("link", { name: "Devices" }).click();
  await page.getByRole("alert").getByText("Your changes are not saved").waitFor();
  assert.equal(await days.inputValue(), "5");
  assert.match(page.url(), /#\/settings\/modules\/calendar$/);

  await page.getByRole("link", { name: "Devices" }).click();
  await page.getByRole("heading", { level: 1, name: "Devices" }).waitFor();
}

async function merges(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "modules/calendar");
  await page.getByLabel("Default days").fill("30");
  await page.getByLabel("Default days").blur();
  const patch = (json: object) => fixture.host.api("/config", { method: "PATCH", json });

  await patch({ ui: { theme: "dark" } });
  const read = page.waitForResponse(
    (response) =>
      response.request().method() === "GET" && response.url().endsWith("/modules/calendar/config"),
  );
  await save(page);
  await page.getByRole("status").getByText("Saved").waitFor();
  await read;
  await page.getByLabel("Default days").fill("31");
  await page.getByLabel("Default days").blur();
  await patch({ calendar: { refreshSeconds: 120 } });
  await save(page);

  await page.getByRole("alert").getByText("were changed elsewhere").waitFor();
  assert.equal(await page.getByLabel("Refresh seconds").inputValue(), "120");
  assert.equal(await page.getByLabel("Default days").inputValue(), "31");
  await save(page);
  await page.getByRole("status").getByText("Saved").waitFor();
  const { config } = (await (await fixture.host.api("/config")).json()) as {
    config: { calendar: object };
  };
  assert.deepEqual(config.calendar, { refreshSeconds: 120, defaultDays: 31, sources: {} });
}

async function keepsTyped(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "modules/calendar");
  const days = page.getByLabel("Default days");
  const type = async (text: string) => {
    await days.fill(text);
    await days.blur();
  };
  await type("40");
  let release: () => void = () => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/modules/calendar/config", async (route) => {
    if (route.request().method() === "GET") await isReleased;
    await route.continue();
  });

  await save(page);
  await page.getByRole("status").getByText("Saved").waitFor();
  await type("41");
  await save(page);
  release();

  const stored = async () =>
    (await (await fixture.host.api("/modules/calendar/config")).json()) as {
      options: { defaultDays: number };
    };
  await until(async () => (await stored()).options.defaultDays === 41);
}

async function saysAtField(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "access");
  const name = page.getByLabel("Name");
  const make = page.getByRole("button", { name: "Create a token" });

  await make.click();
  await page.locator("#token-name:invalid:focus").waitFor();
  await name.fill("   ");
  await make.click();
  await page.locator("#token-name:invalid:focus").waitFor();
  await name.fill("..");
  await make.click();

  await page.locator(".field .fault").getByText(/\.\./).waitFor();
  assert.equal(await name.getAttribute("aria-invalid"), "true");
  assert.equal(await name.inputValue(), "..");
  await name.fill("x".repeat(80));
  assert.equal((await name.inputValue()).length, 64);
}

async function revokesOne(t: TestContext, fixture: Fixture): Promise<void> {
  const ask = { name: "tablet", scope: ["read"] };
  for (let i = 0; i < 2; i++) await fixture.host.api("/tokens", { method: "POST", json: ask });
  const page = await visitSettings(t, fixture, "access");
  const rows = page.getByRole("listitem").filter({ hasText: "tablet" });
  const ids = rows.getByText(/^ID [\da-f]{8}…$/);
  await ids.nth(1).waitFor();

  assert.equal(new Set(await ids.allTextContents()).size, 2, "each says which it is");
  await rows.first().getByRole("button", { name: "Revoke tablet" }).click();
  await page.getByRole("button", { name: "Confirm: Revoke tablet" }).click();
  await page.getByRole("status").getByText("tablet revoked").waitFor();

  await until(async () => (await rows.count()) === 1);
}

async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Save" }).click();
}

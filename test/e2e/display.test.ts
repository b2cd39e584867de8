import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { picture } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

const DISPLAYS = [
  { id: "wall", name: "Wall", pages: ["climate", "home"], theme: "light", kiosk: true },
  { id: "hall", name: "Hall", pages: ["home", "lights"], rotateSeconds: 1 },
  { id: "bed", name: "Bed", pages: [], theme: "night" },
];

interface Fixture {
  readonly host: TestHost;
  readonly visit: (t: TestContext, address?: string) => Promise<Page>;
}

test("a screen that is a display of the layout", async (t) => {
  const browser = await openBrowser(t);
  const host = await startHost(t, {
    plugins: ["plugins/demo-home", "plugins/room-widget"],
    trusted: "all",
  });
  await addDisplays(host);
  const visit = visitor(host, browser);
  const fixture = { host, visit };

  await t.test("shows its own pages and its own theme", (each) => showsItsPages(each, fixture));
  await t.test("always has a way to leave kiosk mode, which returns when idle", (each) =>
    leavesKiosk(each, fixture),
  );
  await t.test("turns its pages by itself", (each) => turnsPages(each, fixture));
  await t.test("dims to a clock and wakes at a touch", (each) => dims(each, fixture));
  await t.test("is laid out from right to left if the language of the home is", (each) =>
    readsFromTheRight(each, fixture),
  );
  await t.test("can be installed as an app", (each) => isInstallable(each, fixture));
});

async function showsItsPages(t: TestContext, { visit }: Fixture): Promise<void> {
  const page = await visit(t, "?display=wall");

  await page.locator(":root[data-theme=light][data-kiosk]").waitFor();

  const tabs = page.getByRole("navigation", { name: "Pages" }).getByRole("button");
  assert.deepEqual(
    (await tabs.allTextContents()).map((text) => text.trim()),
    ["Climate", "Home"],
  );
}

async function leavesKiosk(t: TestContext, { host, visit }: Fixture): Promise<void> {
  t.after(() => host.api("/config", { method: "PATCH", json: { ui: { idleSeconds: null } } }));
  const page = await visit(t, "?display=wall");
  await assertAccessible(page, ".tile");
  await picture(page, "kiosk");

  await page.getByRole("button", { name: "Leave kiosk mode" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("This screen shows only the dashboard").waitFor();
  await picture(page, "kiosk-question");
  await page.locator(".kiosk-question .action").first().click();

  await page.locator(":root:not([data-kiosk])").waitFor();
  await host.api("/config", { method: "PATCH", json: { ui: { idleSeconds: 2 } } });
  await page.locator(":root[data-kiosk]").waitFor();
}

async function turnsPages(t: TestContext, { visit }: Fixture): Promise<void> {
  const page = await visit(t, "?display=hall");
  await page.clock.install();
  await page.reload();
  const current = page.locator(".tabs [aria-current]");
  await current.getByText("Home").waitFor();

  await page.clock.runFor(62_000);

  await until(async () => /#(home|lights)$/.test(page.url()));
}

async function dims(t: TestContext, { visit }: Fixture): Promise<void> {
  const page = await visit(t);
  await page.clock.install();
  await page.goto(`${page.url()}?display=bed`);
  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();

  await page.clock.runFor(130_000);
  await page.locator(":root[data-theme=night] .night time").waitFor();
  await assertAccessible(page);
  const shift = await page.evaluate("document.documentElement.style.getPropertyValue('--shift-x')");
  await page.mouse.click(200, 200);

  await page.locator(".night").waitFor({ state: "detached" });
  assert.match(String(shift), /^-?\d+px$/);
}

async function readsFromTheRight(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const speak = (locale: string | null) =>
    host.api("/config", { method: "PATCH", json: { ui: { locale } } });
  t.after(() => speak(null));
  const page = await visit(t);

  await speak("he-IL");
  await page.locator(":root[dir=rtl][lang=en]").waitFor();
  await picture(page, "right-to-left");
  const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  assert.equal(wide, false);
  await speak("de-DE");

  await page.getByRole("navigation", { name: "Seiten" }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.lang"), "de-DE");
}

async function isInstallable(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const page = await visit(t);
  const session = await page.context().newCDPSession(page);

  const { errors, data } = await session.send("Page.getAppManifest");
  const { icons } = JSON.parse(data ?? "") as { icons: { src: string; type: string }[] };
  const served = await Promise.all(icons.map(({ src }) => fetch(host.url + src)));

  assert.deepEqual(errors, []);
  assert.deepEqual(
    served.map((response) => [response.status, response.headers.get("content-type")]),
    icons.map(({ type }) => [200, type]),
  );
}

async function addDisplays(host: TestHost): Promise<void> {
  const layout = (await (await host.api("/layout")).json()) as object;
  const put = await host.api("/layout", {
    method: "PUT",
    json: { ...layout, displays: DISPLAYS },
  });
  assert.equal(put.status, 200);
}

function visitor(host: TestHost, browser: Browser): Fixture["visit"] {
  return async (t, address = "") => {
    const { page } = await openPage(t, browser, await host.link("edit"));
    await page.locator(".tabs [aria-current]").waitFor();
    if (address !== "") await page.goto(`${host.url}/${address}`);
    await page.locator(".tabs [aria-current]").waitFor();
    return page;
  };
}

import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { serveDavAccount } from "../fakes/dav-account.ts";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { type Fixture, visitSettings } from "../helpers/settings.ts";
import { patchUi, picture } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";
import { calendar, event } from "../plugins/calendar/calendar-text.ts";

test("the settings", async (t) => {
  const plugins = ["demo-home", "calendar", "room-widget", "scenes-widget"].map(
    (name) => `plugins/${name}`,
  );
  const fixture: Fixture = {
    browser: await openBrowser(t),
    host: await startHost(t, { plugins, trusted: "all" }),
  };

  await t.test("are one tap away from the dashboard, and back", (each) => opens(each, fixture));
  await t.test("have a menu of its own on a phone", (each) => opensOnPhone(each, fixture));
  await t.test("are found by their names, with / and Ctrl-K", (each) => finds(each, fixture));
  await t.test("name a device, put it into a room and hide it", (each) => names(each, fixture));
  await t.test("save the current states of devices as a scene", (each) => captures(each, fixture));
  await t.test("order the scenes, by clicks and keys", (each) => orders(each, fixture));
  await t.test("leave out what needs full access, for users who edit", (each) =>
    editsOnly(each, fixture),
  );
  await t.test("make a token that is shown once, and revoke it", (each) => revokes(each, fixture));
  await t.test("add a calendar and a feed address", (each) => addsCalendar(each, fixture));
  await t.test("add the calendars of an account step by step", (each) =>
    addsAccount(each, fixture),
  );
  await t.test("save a backup and restore it", (each) => backsUp(each, fixture));
});

test("Mantel restarts from its page, which then continues by itself", async (t) => {
  const host = await startHost(t, { plugins: ["plugins/demo-home"] });
  const page = await visitSettings(t, { browser: await openBrowser(t), host }, "about");
  const uptime = async () =>
    ((await (await host.api("/health")).json()) as { uptimeSeconds: number }).uptimeSeconds;
  await until(async () => (await uptime()) > 0);
  const startedAt = performance.now();

  await page.getByRole("button", { name: "Restart Mantel" }).click();
  await page.getByRole("button", { name: "Confirm: Restart Mantel" }).click();
  await page.getByRole("status").getByText("Mantel restarts").waitFor();
  const isAnother = async () => (await uptime()) * 1_000 < performance.now() - startedAt;
  await until(isAnother, { withinMs: 20_000 });
  await patchUi(host, { theme: "light" });

  await page.locator(":root[data-theme=light]").waitFor();
});

async function opens(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "");

  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { level: 1, name: "General" }).waitFor();
  await page.getByRole("link", { name: "Advanced" }).click();
  await page.getByRole("link", { name: "About" }).click();
  await page.getByRole("heading", { level: 1, name: "About" }).waitFor();
  await page.getByRole("link", { name: "Back to the dashboard" }).click();

  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
}

async function opensOnPhone(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "");
  await page.setViewportSize({ width: 390, height: 844 });
  const menu = page.getByRole("navigation", { name: "Settings" });
  const heading = page.getByRole("heading", { level: 1 });

  await page.getByRole("link", { name: "Settings" }).click();
  await menu.getByRole("link", { name: /^Devices \d+$/ }).waitFor();
  await heading.filter({ hasText: "Settings" }).waitFor();
  assert.equal(await page.getByLabel("Language").isVisible(), false);
  await assertAccessible(page);
  await picture(page, "settings-menu-phone");

  await menu.getByRole("searchbox").fill("bedside");
  await page.getByRole("link", { name: /Bedside/ }).click();
  await heading.filter({ hasText: "Devices" }).waitFor();
  assert.equal(await menu.getByRole("searchbox").isVisible(), false);
  await menu.getByRole("link", { name: "Settings" }).click();
  await menu.getByRole("link", { name: "Advanced" }).click();
  await page.getByRole("link", { name: "About" }).click();
  await heading.filter({ hasText: "About" }).waitFor();
  await menu.getByRole("link", { name: "Advanced" }).click();
  await heading.filter({ hasText: "Advanced" }).waitFor();
  await menu.getByRole("link", { name: "Settings" }).click();
  await menu.getByRole("link", { name: "Back to the dashboard" }).click();

  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
}

async function finds(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "general");
  await page.getByRole("heading", { level: 1, name: "General" }).waitFor();
  const results = page.getByRole("list", { name: "Settings found" }).getByRole("link");

  await page.keyboard.press("/");
  await page.keyboard.type("bedside");
  await results.filter({ hasText: "Bedside" }).click();
  await page.getByRole("heading", { level: 1, name: "Devices" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("nobody");
  await page.keyboard.press("Enter");
  await page.locator(".found").getByLabel("When nobody is near").waitFor();
  await page.getByLabel("When nobody is near").selectOption("120");
  await page.getByRole("status").getByText("Saved").waitFor();

  const { config } = (await (await fixture.host.api("/config")).json()) as {
    config: { ui: { idleSeconds: number } };
  };
  assert.equal(config.ui.idleSeconds, 120);
}

interface Devices {
  readonly devices: readonly { name: string; room: string | null; hidden?: boolean }[];
}

async function names(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "devices");
  const name = "<b>Reading</b> lamp \u202e";

  await page.getByLabel("Search").fill("bedside");
  await page.getByRole("link", { name: /Bedside/ }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("combobox", { name: "Room" }).fill("Study");
  await page.getByLabel("Hide").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();

  const { devices } = (await (await fixture.host.api("/smart-home/devices")).json()) as Devices;
  const found = devices.find((each) => each.name === name);
  assert.deepEqual([found?.room, found?.hidden], ["Study", true]);
  await page.getByRole("button", { name: "From the bridge" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();
  await until(async () => /Bedside/.test(await page.getByLabel("Name").inputValue()));
}

async function captures(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "scenes");

  await page.getByLabel("Name").fill("Late night");
  await page.getByRole("checkbox", { name: /Sofa lamp/ }).check();
  await page.getByRole("button", { name: "Save the current state" }).click();
  await page.getByRole("button", { name: "Activate Late night" }).click();
  await page.getByRole("status").getByText("Late night activated").waitFor();

  const answer = await fixture.host.api("/smart-home/scenes/host:scene:late-night");
  const { targets } = (await answer.json()) as { targets: object };
  assert.equal(Object.keys(targets).length, 1);
  await page.getByRole("button", { name: "Remove Late night" }).click();
  await page.getByRole("button", { name: "Confirm: Remove Late night" }).click();
  await page.getByRole("status").getByText("Removed").waitFor();
}

async function orders(t: TestContext, fixture: Fixture): Promise<void> {
  const { host } = fixture;
  const wall = await visitSettings(t, fixture, "");
  const shown = wall.locator("[data-module=scenes-widget] button span");
  await shown.nth(4).waitFor();
  const page = await visitSettings(t, fixture, "scenes");
  const focused = () => page.evaluate("document.activeElement?.getAttribute('aria-label')");
  const status = page.getByRole("status");

  await page.getByRole("button", { name: "Move Dinner up" }).click();
  await status.getByText("Dinner: place 1 of 5").waitFor();
  await until(async () => (await shown.first().textContent()) === "Dinner");
  const afterClick = await focused();
  await page.getByRole("button", { name: "Move Away down" }).focus();
  await page.keyboard.press("Enter");
  await status.getByText("Away: place 5 of 5").waitFor();
  await until(async () => (await focused()) === "Move Away up");
  await page.keyboard.press("Space");
  await status.getByText("Away: place 4 of 5").waitFor();
  await page.keyboard.press("Space");
  await status.getByText("Away: place 3 of 5").waitFor();
  const order = ["Dinner", "Morning", "Away", "Movie", "Good night"];
  await until(async () => (await shown.allTextContents()).join() === order.join());

  assert.equal(afterClick, "Move Dinner down");
  assert.equal(await focused(), "Move Away up");
  const { scenes } = (await (await host.api("/smart-home/scenes")).json()) as {
    scenes: { name: string }[];
  };
  assert.deepEqual(
    scenes.map(({ name }) => name),
    order,
  );
  await picture(page, "scenes-order");
}

/** The pages, with a selector of what only full access changes on them; null for a page that has nothing of it. */
const PAGES: Readonly<Record<string, string | null>> = {
  general: 'text="Accent colour"',
  rooms: null,
  devices: null,
  "devices/demo:light:1": 'text="Save"',
  scenes: null,
  calendars: 'text="Create an address"',
  place: "input[aria-label=Town]",
  access: 'text="Create a token"',
  displays: null,
  notifications: null,
  backup: 'button:text-is("Create a backup")',
  modules: null,
  "modules/calendar": 'text="Disable"',
  plugins: 'text="Install"',
  bridges: null,
  about: 'text="Restart Mantel"',
};

async function editsOnly(t: TestContext, fixture: Fixture): Promise<void> {
  const { host, browser } = fixture;
  const { page } = await openPage(t, browser, await host.link("edit"));
  const refused: string[] = [];
  const open = new Set<object>();
  page.on("request", (request) => !request.url().endsWith("/events") && open.add(request));
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
  page.on("response", (response) => {
    if (response.status() === 403) refused.push(`${page.url()} ${response.url()}`);
  });
  await page.getByRole("link", { name: "Settings" }).click();
  const main = page.getByRole("main");
  const sentence = main.getByText(/needs? full access\.$/);
  const admin = await visitSettings(t, fixture, "general");

  for (const [address, left] of Object.entries(PAGES)) {
    const show = `location.hash = ${JSON.stringify(`#/settings/${address}`)}`;
    await page.evaluate(show);
    await page.locator(`main[data-page="${address}"]`).waitFor();
    await until(() => open.size === 0);
    assert.equal(await main.getByRole("alert").innerText(), "", address);
    assert.equal(await sentence.count(), left === null || address === "about" ? 0 : 1, address);
    if (left === null) continue;
    assert.equal(await main.locator(left).count(), 0, address);
    await admin.evaluate(show);
    await admin.getByRole("main").locator(left).first().waitFor();
  }
  await page.evaluate("location.hash = '#/settings/general'");
  await page.getByLabel("Units").selectOption("imperial");
  await page.getByRole("status").getByText("Saved").waitFor();
  await patchUi(host, { units: "metric" });

  assert.deepEqual(refused, []);
  const [some, all] = await Promise.all(
    [page, admin].map((each) => each.locator(".menu a").allInnerTexts()),
  );
  assert.deepEqual(
    some,
    all?.filter((each) => each.trim() !== "Backups"),
  );
  assert.equal(all?.length, (some?.length ?? 0) + 1);
}

async function revokes(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const page = await visitSettings(t, { host, browser }, "access");

  await page.getByLabel("Name").fill("guest");
  await page.getByRole("button", { name: "Create a token" }).click();
  const token = await page.getByLabel(/it is not shown again/).inputValue();
  const ask = () =>
    fetch(`${host.url}/api/v1/smart-home/devices`, {
      headers: { authorization: `Bearer ${token}` },
    });
  const before = (await ask()).status;
  await page.getByRole("button", { name: "Revoke guest" }).click();
  await page.getByRole("button", { name: "Confirm: Revoke guest" }).click();
  await page.getByRole("status").getByText("guest revoked").waitFor();

  assert.deepEqual([before, (await ask()).status], [200, 401]);
}

async function addsCalendar(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const page = await visitSettings(t, { host, browser }, "calendars");

  await page.getByRole("button", { name: "Add: Calendars" }).click();
  await page.getByLabel("ID", { exact: true }).fill("family");
  await page.getByLabel("ID", { exact: true }).blur();
  const source = page.getByRole("group").filter({ hasText: "family" }).last();
  await source.getByLabel("Name", { exact: true }).fill("Family");
  await source.getByLabel("Address", { exact: true }).fill("https://calendar.example/private.ics");
  await source.getByLabel("Address", { exact: true }).blur();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("status").getByText("Saved").waitFor();

  const text = await (await host.api("/config")).text();
  assert.match(text, /"name":"Family"/);
  assert.doesNotMatch(text, /calendar\.example/, "an address is as good as a password");
}

/** As a user with an account on a server of the home: through the plugin's sandbox, up to its event. */
async function addsAccount(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const server = await serveDavAccount(t);
  const object = calendar(event("UID:a", "DTSTART:20260601T090000Z", "SUMMARY:Concert")).toString();
  for (const name of ["Home", "Work"]) {
    server.calendars.set(name.toLowerCase(), { name, objects: { "a.ics": object } });
  }
  const page = await visitSettings(t, { host, browser }, "calendars");
  const next = () => page.getByRole("button", { name: "Next" }).click();

  await page.getByRole("button", { name: "Start" }).click();
  await picture(page, "add-calendars");
  await page.getByLabel(/^Mail address/).fill("two words");
  await next();
  await page.getByText("this is neither a mail address nor the address of a server").waitFor();
  await page.getByLabel(/^Mail address/).fill(server.url);
  await page.getByLabel(/^User name, if/).fill("ann");
  await page.getByLabel("Password", { exact: true }).first().fill("let-me-in");
  await next();
  await page.getByText("This server is in your own network. Is that right?").waitFor();
  await picture(page, "add-calendars-near");
  await page.getByRole("switch", { name: "Yes" }).check();
  await next();
  await page.getByLabel("Work", { exact: true }).uncheck();
  await picture(page, "add-calendars-choice");
  await next();
  await page.getByText("Done. The result is saved.").waitFor();
  await page.locator(".rows").getByText("Home", { exact: true }).waitFor();

  const read = async () => {
    const answer = await host.api("/calendar/events?start=2026-06-01&end=2026-06-02");
    return (await answer.json()) as { events: { title: string }[]; sources: { id: string }[] };
  };
  await until(async () => (await read()).events.length > 0);
  const { events, sources } = await read();
  assert.deepEqual(
    events.map(({ title }) => title),
    ["Concert"],
  );
  assert.ok(sources.some(({ id }) => id === "127-0-0-1-home"));
  assert.ok(!sources.some(({ id }) => id === "127-0-0-1-work"));
}

async function backsUp(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visitSettings(t, fixture, "backup");
  const folder = await emptyFolder(t);
  const file = join(folder, "home.backup");
  const passphrases = page.getByLabel(/Passphrase/);

  await passphrases.first().fill("correct horse battery");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Create a backup" }).click();
  await (await download).saveAs(file);
  await page.getByLabel("Backup file").setInputFiles(file);
  await passphrases.last().fill("another passphrase");
  const restore = async () => {
    await page.getByRole("button", { name: "Check and restore", exact: true }).click();
    const request = page.waitForRequest((each) => each.url().endsWith("/restore"));
    await page.getByRole("button", { name: "Confirm: Check and restore" }).click();
    return (await request).postDataJSON() as { passphrase: string; credentials: boolean };
  };
  const status = (text: RegExp) => page.getByRole("status").getByText(text).waitFor();
  await restore();
  await page
    .getByRole("alert")
    .getByText(/wrong passphrase for the secrets/)
    .waitFor();
  await passphrases.last().fill("correct horse battery");
  const withoutKeys = await restore();
  await status(/when Mantel restarts.*Keys and tokens are not changed/);
  await page.getByRole("switch", { name: /Also restore its keys/ }).check();
  const withKeys = await restore();
  await status(/when Mantel restarts\.$/);
  await page.getByRole("button", { name: "Restart Mantel" }).waitFor();

  assert.deepEqual([withoutKeys.credentials, withKeys.credentials], [false, true]);
}

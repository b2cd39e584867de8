import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Browser } from "playwright-core";
import { assertAccessible } from "../helpers/accessibility.ts";
import { beginDrag, boxOf, openBrowser, openPage, type TestPage } from "../helpers/browser.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { openLine } from "../helpers/line.ts";
import { picture } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

interface Fixture {
  readonly host: TestHost;
  /** A page that shows the home to a holder of a token. */
  readonly visit: (t: TestContext) => Promise<TestPage>;
  readonly browser: Browser;
}

test("the dashboard", async (t) => {
  const browser = await openBrowser(t);
  const host = await startHost(t, { trusted: "all" });
  const fixture: Fixture = {
    host,
    browser,
    async visit(each) {
      const visit = await openPage(each, browser, await host.link("admin"));
      await visit.page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
      return visit;
    },
  };

  await t.test("takes the token out of the address", (each) => takesToken(each, fixture));
  await t.test("asks for a token and accepts the printed link", (each) =>
    asksForToken(each, fixture),
  );
  await t.test("reports an invalid token", (each) => refusesToken(each, fixture));
  await t.test("offers the first steps of a home until they are hidden", (each) =>
    offersFirstSteps(each, fixture),
  );
  await t.test("switches a lamp by a tap", (each) => switches(each, fixture));
  await t.test("dims a lamp by a sideways drag, to its last value", (each) => dims(each, fixture));
  await t.test("keeps the level of a lamp that is dragged to off", (each) =>
    keepsLevel(each, fixture),
  );
  await t.test("dims a lamp by the keyboard", (each) => dimsByKeyboard(each, fixture));
  await t.test("shows what changes elsewhere", (each) => showsChanges(each, fixture));
  await t.test("changes its theme with the config", (each) => changesTheme(each, fixture));
  await t.test("goes to another page and back", (each) => changesPage(each, fixture));
  await t.test("reports a tap that the token does not permit", (each) =>
    saysNotAllowed(each, fixture),
  );
  await t.test("asks before it unlocks a door", (each) => asksToUnlock(each, fixture));
  await t.test(
    "opens the details of a device by its button, a long press and the menu key",
    (each) => opensDetails(each, fixture),
  );
  await t.test("lets a player play what another plays, and leave it", (each) =>
    groupsPlayers(each, fixture),
  );
  await t.test("turns the lights of a room off, and takes it back", (each) =>
    turnsRoomOff(each, fixture),
  );
  await t.test("shows the home in a browser that forbids storage", (each) =>
    worksWithoutStorage(each, fixture),
  );
  await t.test("reports an unreachable host and reconnects", (each) =>
    survivesOffline(each, fixture),
  );
});

async function opensDetails(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page, faults } = await visit(t);
  const sheet = page.getByRole("dialog", { name: "TV backlight" });
  const lamp = page.getByRole("slider", { name: "TV backlight" });
  const more = page.getByRole("button", { name: "Details: TV backlight" });

  await more.click();
  await sheet.getByRole("slider", { name: "Colour" }).waitFor();
  for (const theme of ["dark", "light"] as const) {
    await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
    await assertAccessible(page);
  }
  await sheet.getByRole("slider", { name: "Level" }).press("End");
  await until(async () => (await stateOf(host, "TV backlight"))["brightness"] === 100);
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  assert.equal(await more.evaluate((button) => button.matches(":focus")), true);

  const sent: string[] = [];
  page.on("request", (request) => request.method() === "GET" || sent.push(request.url()));
  await lamp.click({ delay: 700 });
  await sheet.waitFor();
  await page.mouse.click(10, 790);
  await sheet.waitFor({ state: "detached" });
  assert.deepEqual(sent, [], "no tap");

  await lamp.click({ button: "right" });
  await sheet.getByRole("button", { name: "Close" }).click();
  await sheet.waitFor({ state: "detached" });
  assert.deepEqual(faults, []);
}

async function groupsPlayers(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page, faults } = await visit(t);
  const sheet = page.getByRole("dialog", { name: "Speaker", exact: true });
  const companions = sheet.getByRole("group", { name: "Also plays in" });
  const chip = companions.getByRole("button", { name: "Bedroom speaker", exact: true });
  const groupOf = async () => (await stateOf(host, "Bedroom speaker"))["group"];
  const isPressed = async () => (await chip.getAttribute("aria-pressed")) === "true";
  await page.getByRole("button", { name: "Details: Speaker", exact: true }).click();
  await chip.waitFor();
  assert.equal(await isPressed(), false);

  await chip.click();
  await until(async () => (await groupOf()) === "Speaker");
  await sheet.getByText("+ Bedroom speaker").waitFor();
  assert.equal(await isPressed(), true);
  assert.equal(await sheet.getByText(/^(Group|Name in groups)$/).count(), 0);
  for (const theme of ["dark", "light"] as const) {
    await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
    await assertAccessible(page);
    await picture(page, `players-${theme}`);
  }
  await page.setViewportSize({ width: 320, height: 700 });
  const { x, width } = await boxOf(chip);
  assert.ok(x >= 0 && x + width <= 320, `the button is from ${x} to ${x + width}`);
  await picture(page, "players-narrow");

  await chip.click();
  await until(async () => (await groupOf()) === "Bedroom speaker");
  await until(async () => !(await isPressed()));
  assert.deepEqual(faults, []);
}

async function turnsRoomOff(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page, faults } = await visit(t);
  const room = page.getByRole("region", { name: "Living room" });
  const sheet = page.getByRole("dialog", { name: "Living room" });
  await host.api("/rooms/Living%20room/command?kind=light", { method: "POST", json: { on: true } });
  await room.getByText("3 on").waitFor();

  await room.getByRole("button", { name: "All off" }).click();
  await page.locator(".undo-notice").getByText("3 lights off").waitFor();
  assert.equal((await stateOf(host, "Sofa lamp"))["on"], false);
  await page.getByRole("button", { name: "Undo" }).click();
  await until(async () => (await stateOf(host, "Sofa lamp"))["on"] === true);

  await room.getByRole("button", { name: /^Living room/ }).click();
  await sheet.getByRole("slider", { name: "All lights" }).press("PageUp");
  await sheet.getByText("3 of 3 lights on").waitFor();
  await assertAccessible(page);
  await sheet.getByRole("button", { name: "Close" }).click();
  await sheet.waitFor({ state: "detached" });
  assert.deepEqual(faults, []);
}

async function takesToken(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page, faults } = await visit(t);

  assert.equal(page.url(), `${host.url}/`);
  await page.reload();
  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
  assert.deepEqual(faults, []);
}

async function asksForToken(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, host.url);
  const field = page.getByLabel("Link or token");

  await field.fill(await host.link("read"));
  await page.getByRole("button", { name: "Open the dashboard" }).click();

  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
}

async function refusesToken(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, `${host.url}/#token=forged`);

  await page.getByRole("alert").getByText("no longer valid").waitFor();
  assert.equal(await page.evaluate(`localStorage.getItem("mantel.signed-in")`), null);
}

async function switches(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page } = await visit(t);
  const lamp = page.getByRole("slider", { name: "Ceiling" });
  const before = await stateOf(host, "Ceiling");

  await lamp.click();

  await until(async () => (await stateOf(host, "Ceiling")).on === !before.on);
  await until(async () => ((await lamp.getAttribute("aria-valuetext")) === "Off") === before.on);
}

async function offersFirstSteps(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, await host.link("admin"), { firstSteps: true });
  await page.getByText("This is a simulated home.").waitFor();
  await page.getByRole("heading", { name: "Add your town" }).waitFor();
  await assertAccessible(page);

  await page.getByRole("button", { name: "Hide" }).click();

  await page.getByText("This is a simulated home.").waitFor({ state: "detached" });
}

async function dims(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page } = await visit(t);
  const lamp = page.getByRole("slider", { name: "Island" });
  const commands = { sent: 0, answered: 0, most: 0 };
  page.on("request", (request) => {
    if (!request.url().endsWith("/command")) return;
    commands.sent += 1;
    commands.most = Math.max(commands.most, commands.sent - commands.answered);
  });
  page.on("response", (response) => {
    if (response.url().endsWith("/command")) commands.answered += 1;
  });
  const box = await boxOf(lamp);
  let release = (): void => undefined;
  const isRead = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/command", async (route) => {
    await isRead; // no command has been answered when the value is read
    await route.continue();
  });

  const at = (share: number) => ({ x: box.x + box.width * share, y: box.y + 50 });
  await beginDrag(page, at(0.85), at(0.25), { steps: 30 });
  await page.mouse.up();
  await page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
  );

  const asked = Number(await lamp.getAttribute("aria-valuenow"));
  assert(asked > 15 && asked < 35, `shows ${asked} % at once`);
  release();
  await until(async () => (await stateOf(host, "Island")).brightness === asked);
  assert.equal((await stateOf(host, "Island")).on, true, "the click that ends a drag is not a tap");
  assert.equal(commands.most, 1, "values that come while a command is on its way are one more");
  assert(commands.sent < 30, `${commands.sent} commands for 30 moves`);
}

async function keepsLevel(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page } = await visit(t);
  await host.api(`/smart-home/devices/${await idOf(host, "Island")}/command`, {
    method: "POST",
    json: { on: true, brightness: 80 },
  });
  const lamp = page.getByRole("slider", { name: "Island" });
  await until(async () => (await lamp.getAttribute("aria-valuenow")) === "80");
  const { x, y, width } = await boxOf(lamp);

  await beginDrag(page, { x: x + width * 0.8, y: y + 50 }, { x: x - 20, y: y + 50 });
  await page.mouse.up();
  await until(async () => (await stateOf(host, "Island")).on === false);
  await until(async () => (await lamp.getAttribute("aria-valuetext")) === "Off");
  await lamp.click();

  await until(async () => (await stateOf(host, "Island")).brightness === 80);
  assert.equal((await stateOf(host, "Island")).on, true);
}

async function dimsByKeyboard(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page } = await visit(t);
  await host.api(`/smart-home/devices/${await idOf(host, "Sofa lamp")}/command`, {
    method: "POST",
    json: { on: true, brightness: 50 },
  });
  const lamp = page.getByRole("slider", { name: "Sofa lamp" });
  await until(async () => (await lamp.getAttribute("aria-valuenow")) === "50");

  await lamp.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");

  await until(async () => (await stateOf(host, "Sofa lamp")).brightness === 60);
}

async function showsChanges(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page } = await visit(t);
  const blinds = page.getByRole("slider", { name: "TV backlight" });

  await host.api(`/smart-home/devices/${await idOf(host, "TV backlight")}/command`, {
    method: "POST",
    json: { on: true, brightness: 77 },
  });

  await until(async () => (await blinds.getAttribute("aria-valuetext")) === "77 %");
}

async function changesTheme(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page } = await visit(t);

  await host.api("/config", {
    method: "PATCH",
    headers: { "Content-Type": "application/merge-patch+json" },
    json: { ui: { theme: "light" } },
  });

  await page.locator(":root[data-theme=light]").waitFor();
  await host.api("/config", { method: "PATCH", json: { ui: { theme: null } } });
  await page.locator(":root[data-theme=dark]").waitFor();
}

async function changesPage(t: TestContext, { visit }: Fixture): Promise<void> {
  const { page } = await visit(t);

  await page.getByRole("button", { name: "Climate" }).click();
  await page.getByText("Windows, doors and locks").waitFor();
  assert.equal(await page.getByRole("slider", { name: "Sofa lamp" }).isVisible(), false);
  await page.getByRole("button", { name: "Home" }).click();

  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
}

async function saysNotAllowed(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, await host.link("read"));
  const lamp = page.getByRole("slider", { name: "TV backlight" });
  const before = await stateOf(host, "TV backlight");

  await lamp.click();

  await lamp.getByText("Not allowed").waitFor();
  assert.equal((await stateOf(host, "TV backlight")).on, before.on);
}

async function asksToUnlock(t: TestContext, { host, visit }: Fixture): Promise<void> {
  const { page } = await visit(t);
  await page.getByRole("button", { name: "Climate" }).click();
  const door = page.getByRole("button", { name: /^Front door/ });

  const commands: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/command")) commands.push(request.url());
  });
  await door.click();
  await door.getByText("Unlock?").waitFor();
  const afterOneTap = commands.length;
  await door.click(); // the question stays for four seconds

  await until(async () => (await stateOf(host, "Front door")).locked === false);
  assert.deepEqual([afterOneTap, commands.length], [0, 1]);
  await page.getByRole("status").getByText("Front door unlocked").waitFor();
}

async function survivesOffline(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const line = await openLine(t, host.url);
  const { page } = await openPage(t, browser, await host.link("read", line.url));
  const lamp = page.getByRole("slider", { name: "Sofa lamp" });
  const id = await idOf(host, "Sofa lamp");
  await lamp.waitFor();

  line.cut();
  await page.getByText(/Offline for \d+ s · showing the last known state/).waitFor();
  const shown = await lamp.getAttribute("class");
  const command = { method: "POST", json: { on: true, brightness: 33 } };
  await host.api(`/smart-home/devices/${id}/command`, command);
  line.mend();

  await until(async () => (await lamp.getAttribute("aria-valuenow")) === "33", {
    withinMs: 15_000,
  });
  await page.getByText(/Offline for/).waitFor({ state: "detached" });
  assert.match(shown ?? "", /stale/);
}

interface Devices {
  readonly devices: readonly { id: string; name: string; state: Record<string, unknown> }[];
}

async function deviceOf(host: TestHost, name: string): Promise<Devices["devices"][number]> {
  const { devices } = (await (await host.api("/smart-home/devices")).json()) as Devices;
  const device = devices.find((each) => each.name === name);
  assert(device, `there is a device ${name}`);
  return device;
}

async function stateOf(host: TestHost, name: string): Promise<Record<string, unknown>> {
  return (await deviceOf(host, name)).state;
}

async function idOf(host: TestHost, name: string): Promise<string> {
  return (await deviceOf(host, name)).id;
}

async function worksWithoutStorage(t: TestContext, { browser, host }: Fixture) {
  const context = await browser.newContext();
  t.after(() => context.close());
  await context.addInitScript(FORBID_STORAGE);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));

  await page.goto(await host.link("admin"));

  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
  assert.deepEqual(faults, []);
}

const FORBID_STORAGE = `for (const name of ["localStorage", "sessionStorage"]) {
  Object.defineProperty(window, name, {
    get() { throw new DOMException("The operation is insecure.", "SecurityError"); },
  });
}`;

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { DeviceDescription } from "@mantel/plugin-sdk";
import type { Browser, Page } from "playwright-core";
import type { Layout } from "../../host/dashboard/layout.ts";
import { openBrowser } from "../helpers/browser.ts";
import type { TestHost } from "../helpers/host.ts";
import { CLIMATE, DOOR, HEATING, lamp, METER, WINDOW } from "../helpers/stage-devices.ts";
import { openStage, picture, type Placed, tileOf } from "../helpers/stage.ts";
import { assertFits } from "../helpers/text-boxes.ts";
import { loadNow, until } from "../helpers/until.ts";

const DAY_MS = 24 * 3_600_000;
const YEAR_MS = 365 * DAY_MS;
const ROOMS = 40;
/** The longest name that the host takes, with and without places to break it. */
const LONG_NAMES = ["Wohnzimmerdeckenleuchte".repeat(9), "The lamp by the stairs ".repeat(9)].map(
  (name) => name.slice(0, 200).trim(),
);
const TILES: readonly Placed[] = [
  { id: "scenes", module: "scenes-widget", at: [0, 0, 6, 2] },
  { id: "status", module: "status-widget", at: [6, 0, 6, 3] },
  { id: "all", module: "room-widget", at: [0, 3, 12, 8] },
  { id: "agenda", module: "agenda-widget", at: [0, 11, 4, 8] },
  { id: "clock", module: "clock-widget", at: [4, 11, 4, 8] },
];
const WIDTHS = [
  [1280, 800],
  [320, 700],
] as const;

interface Fixture {
  readonly host: TestHost;
  readonly browser: Browser;
}

type Step = (t: TestContext, fixture: Fixture) => Promise<void>;

const HOMES: Readonly<Record<string, Step>> = {
  "a home without rooms": withoutRooms,
  "a home with one device": withOneDevice,
  "a home of 40 rooms with names of 200 characters": withManyRooms,
};
const BROWSERS: Readonly<Record<string, Step>> = {
  "a browser that forbids all storage": (t, fixture) => withStorage(t, fixture, FORBID),
  "a browser whose storage is full": (t, fixture) => withStorage(t, fixture, FILL),
  "a browser that has no space for files of the home": withoutSpace,
  "a browser whose clock is a year ahead": (t, fixture) => withClock(t, fixture, YEAR_MS),
  "a browser whose clock is a year behind": (t, fixture) => withClock(t, fixture, -YEAR_MS),
};

test("the dashboard works under unusual conditions", async (t) => {
  const { host } = await openStage(t, { plugins: ["calendar"], tiles: TILES });
  const fixture = { host, browser: await openBrowser(t) };
  for (const [name, run] of Object.entries(HOMES)) {
    await t.test(name, (each) => run(each, fixture));
  }
  await showDevices(host, [lamp("one", "Lamp", { room: "Hall" }), METER]);
  await placeTiles(host, TILES);
  for (const [name, run] of Object.entries(BROWSERS)) {
    await t.test(name, (each) => run(each, fixture));
  }
});

async function withoutRooms(t: TestContext, { host, browser }: Fixture): Promise<void> {
  await showDevices(host, [
    lamp("one", "Lamp"),
    lamp("two", "Reading lamp"),
    WINDOW,
    DOOR,
    HEATING,
  ]);
  const { page, faults } = await open(t, browser, await host.link("admin"));

  await tileOf(page, "room-widget").getByRole("slider", { name: "Reading lamp" }).waitFor();
  await looksRight(page, "no-rooms");
  await page.locator("header .chip", { hasText: "2" }).click();
  await page.getByRole("dialog").getByText("2 of 2 lights on").waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.goto(`${host.url}/#/settings/rooms`);
  await page.getByRole("heading", { name: "Rooms", level: 1 }).waitFor();
  await looksRight(page, "no-rooms-settings");
  assert.deepEqual(faults, []);
}

async function withOneDevice(t: TestContext, { host, browser }: Fixture): Promise<void> {
  await showDevices(host, [lamp("one", "Lamp", { room: "Hall" })]);
  const { page, faults } = await open(t, browser, await host.link("admin"));

  const only = tileOf(page, "room-widget").getByRole("slider");
  await only.waitFor();
  assert.equal(await only.count(), 1);
  await looksRight(page, "one-device");
  await only.click();
  await until(async () => (await stateOf(host, "Lamp"))?.["on"] === false);
  await page.goto(`${host.url}/#/settings/devices`);
  await page.getByRole("status").getByText("1 device", { exact: true }).waitFor();
  await looksRight(page, "one-device-settings");
  assert.deepEqual(faults, []);
}

async function withManyRooms(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const rooms = Array.from({ length: ROOMS }, (_, at) =>
    `${at + 1} ${LONG_NAMES[at % 2]}`.slice(0, 200).trim(),
  );
  await showDevices(
    host,
    rooms.flatMap((room, at) => [
      lamp(`lamp-${at}`, `${at + 1} ${LONG_NAMES[(at + 1) % 2]}`.slice(0, 200).trim(), { room }),
      { ...CLIMATE, nativeId: `climate-${at}`, name: `Climate ${at + 1}`, room },
    ]),
  );
  await placeTiles(
    host,
    rooms.map((room, at) => ({
      id: `room-${at}`,
      module: "room-widget",
      config: { room },
      at: [(at % 2) * 6, Math.floor(at / 2) * 6, 6, 6],
    })),
  );
  const { page, faults } = await open(t, browser, await host.link("admin"));

  await tileOf(page, "room-widget", ROOMS - 1)
    .getByRole("slider")
    .waitFor();
  assert.equal(await page.locator("[data-module=room-widget]").count(), ROOMS);
  await looksRight(page, "many-rooms", { mayBeCut: true });
  await page.goto(`${host.url}/#/settings/rooms`);
  await page.getByRole("heading", { name: "Rooms", level: 1 }).waitFor();
  await page
    .getByText(/^40 Wohn|^40 The lamp/)
    .first()
    .waitFor();
  await looksRight(page, "many-rooms-settings", { mayBeCut: true });
  assert.deepEqual(faults, []);
}

/** Every storage that a page may have refuses; the visit works as long as the page is open, and after a reload. */
async function withStorage(
  t: TestContext,
  { host, browser }: Fixture,
  script: string,
): Promise<void> {
  const { page, faults } = await open(t, browser, await host.link("admin"), { script });
  const only = tileOf(page, "room-widget").getByRole("slider", { name: "Lamp" });

  await only.waitFor();
  const before = (await stateOf(host, "Lamp"))?.["on"];
  await only.click();
  await until(async () => (await stateOf(host, "Lamp"))?.["on"] === !before);
  await page.reload();
  await only.waitFor();
  await looksRight(page, script === FILL ? "storage-full" : "storage-forbidden");
  await page.goto(`${host.url}/#/settings/tokens`);
  await page.getByRole("link", { name: "People and access" }).click();
  await page.getByRole("heading", { name: "People and access", level: 1 }).waitFor();
  await page.evaluate("fetch('/api/v1/session', { method: 'DELETE' })");
  await page.reload();
  await page.getByRole("heading", { name: "Mantel" }).first().waitFor();
  assert.deepEqual(
    faults.filter((fault) => !/status of 40[01]|^Failed to load resource/.test(fault)),
    [],
  );
}

/** Notes can be stored, and nothing large: the home works, and is not saved for a start without the host. */
async function withoutSpace(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const link = await host.link("control");
  const { page, faults } = await open(t, browser, link, { script: FILL_CACHES });

  await page.waitForEvent("console", (message) =>
    message.text().startsWith("could not save the home for a start without the host"),
  );
  await tileOf(page, "room-widget").getByRole("slider", { name: "Lamp" }).waitFor();
  await page.reload();
  await tileOf(page, "room-widget").getByRole("slider", { name: "Lamp" }).waitFor();
  assert.deepEqual(faults, []);
}

async function withClock(
  t: TestContext,
  { host, browser }: Fixture,
  aheadMs: number,
): Promise<void> {
  const { page, faults } = await open(t, browser, await host.link("control"), { aheadMs });
  const only = tileOf(page, "room-widget").getByRole("slider", { name: "Lamp" });

  await only.waitFor();
  const year = new Date(Date.now() + aheadMs).getFullYear();
  assert.equal(await page.evaluate("new Date().getFullYear()"), year);
  const before = (await stateOf(host, "Lamp"))?.["on"];
  await only.click();
  await until(async () => (await stateOf(host, "Lamp"))?.["on"] === !before);
  await page.reload();
  await only.waitFor();
  await tileOf(page, "clock-widget").getByText(dayOfWeek()).waitFor();
  await page.getByRole("button", { name: "Details: Meter" }).click();
  const dialog = page.getByRole("dialog", { name: "Meter" });
  await dialog.locator(".history").waitFor();
  await dialog.getByText(/changed (this minute|\d+ min ago)/).waitFor();
  await picture(page, aheadMs > 0 ? "clock-ahead-details" : "clock-behind-details");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page
    .getByRole("alert")
    .getByText("The clock of this screen is wrong by 365 days. Mantel shows the time of the home.")
    .waitFor();
  await picture(page, aheadMs > 0 ? "clock-ahead-notice" : "clock-behind-notice");
  await page.getByRole("button", { name: "Hide" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await looksRight(page, aheadMs > 0 ? "clock-ahead" : "clock-behind");
  assert.deepEqual(faults, []);
}

/** Today in the home, such as Saturday; a year earlier or later it is another day. */
const dayOfWeek = (): string =>
  new Intl.DateTimeFormat("en-GB", { weekday: "long" }).format(Date.now());

interface Conditions {
  /** Runs in the page before its own scripts. */
  readonly script?: string;
  /** Time by which the browser's clock is ahead. */
  readonly aheadMs?: number;
}

async function open(
  t: TestContext,
  browser: Browser,
  url: string,
  { script, aheadMs }: Conditions = {},
): Promise<{ page: Page; faults: readonly string[] }> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: "dark",
  });
  t.after(() => context.close());
  context.setDefaultTimeout(10_000 * loadNow());
  await context.addInitScript(script ?? HIDE_FIRST_STEPS);
  const page = await context.newPage();
  if (aheadMs !== undefined) await page.clock.install({ time: Date.now() + aheadMs });
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`${message.text()} ${message.location().url}`);
  });
  await page.goto(url);
  return { page, faults };
}

async function looksRight(
  page: Page,
  name: string,
  options: { readonly mayBeCut?: boolean } = {},
): Promise<void> {
  for (const [width, height] of WIDTHS) {
    await page.setViewportSize({ width, height });
    await picture(page, `${name}-${width}`);
    await assertFits(page, options);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** The bridge of the stage has these devices from now on. */
async function showDevices(host: TestHost, devices: readonly DeviceDescription[]): Promise<void> {
  const answer = await host.api("/config", { method: "PATCH", json: { stage: { devices } } });
  assert.equal(answer.status, 200, await answer.text());
  const names = devices.map(({ name }) => name).toSorted();
  await until(
    async () => {
      const known = (await devicesOf(host)).map(({ name }) => name);
      return JSON.stringify(known.toSorted()) === JSON.stringify(names);
    },
    { withinMs: 20_000 },
  );
}

async function placeTiles(host: TestHost, tiles: readonly Placed[]): Promise<void> {
  const layout = (await (await host.api("/layout")).json()) as Layout;
  const [home] = layout.pages;
  assert(home);
  const widgets = tiles.map(({ id, module, config = {}, at: [x, y, w, h] }) => ({
    id,
    module,
    config,
    geometry: { lg: { x, y, w, h } },
  }));
  const json = { ...layout, pages: [{ ...home, widgets }] };
  const answer = await host.api("/layout", { method: "PUT", json });
  assert.equal(answer.status, 200, await answer.text());
}

interface Device {
  readonly name: string;
  readonly state: Readonly<Record<string, unknown>>;
}

async function devicesOf(host: TestHost): Promise<readonly Device[]> {
  const answer = await host.api("/smart-home/devices");
  return ((await answer.json()) as { devices: readonly Device[] }).devices;
}

async function stateOf(host: TestHost, name: string): Promise<Device["state"] | undefined> {
  return (await devicesOf(host)).find((each) => each.name === name)?.state;
}

const HIDE_FIRST_STEPS = `if (window === top) localStorage.setItem("mantel.first-steps-hidden", "yes")`;

/** As a browser does it that keeps nothing: each way to a storage throws. */
const FORBID = `for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
  Object.defineProperty(window, name, {
    get() { throw new DOMException("The operation is insecure.", "SecurityError"); },
  });
}
Object.defineProperty(Navigator.prototype, "serviceWorker", {
  get() { throw new DOMException("The operation is insecure.", "SecurityError"); },
});`;

const FILL_CACHES = `for (const name of ["put", "add", "addAll"]) {
  Cache.prototype[name] = async () => {
    throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
  };
}`;

/** Storages can be opened, and take nothing. */
const FILL = `${FILL_CACHES}
{
  const full = () => { throw new DOMException("The quota has been exceeded.", "QuotaExceededError"); };
  Storage.prototype.setItem = full;
  IDBFactory.prototype.open = full;
}`;

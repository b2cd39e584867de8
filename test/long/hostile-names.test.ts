import assert from "node:assert/strict";
import { test } from "node:test";
import type { Device } from "@mantel/plugin-sdk/device";
import type { Page } from "playwright-core";
import type { Layout } from "../../host/dashboard/layout.ts";
import { DOOR, lamp, METER, WINDOW } from "../helpers/stage-devices.ts";
import { openStage, patchUi, picture, type Placed, type Stage, tileOf } from "../helpers/stage.ts";
import { assertFits } from "../helpers/text-boxes.ts";
import { loadNow, until } from "../helpers/until.ts";

const HTML = '<img src=x onerror="globalThis.ran = true"><script>globalThis.ran = true</script>';
/** As long as the host takes a name, without a place to break it. */
const ENDLESS = "Wohnzimmerdeckenleuchte".repeat(9).slice(0, 200);
const EMOJI = "👩‍👩‍👧‍👦🛋️".repeat(12);
const BACKWARDS = "\u202eLampe\u200f מנורה \u2067a";
const NAMES = [HTML, ENDLESS, EMOJI, BACKWARDS];

const tileFor = (id: string, of: unknown, at: Placed["at"]): Placed => ({
  id,
  module: "device-widget",
  config: { device: of },
  at,
});

const GONE = {
  id: "gone",
  module: "departures-widget",
  config: { stop: HTML },
  geometry: { lg: { x: 10, y: 5, w: 2, h: 4 } },
};

const TILES: readonly Placed[] = [
  { id: "scenes", module: "scenes-widget", at: [0, 2, 6, 2] },
  { id: "room", module: "room-widget", config: { room: HTML }, at: [0, 4, 6, 8] },
  { id: "status", module: "status-widget", at: [6, 2, 6, 3] },
  ...NAMES.map((_, at) => tileFor(`lamp-${at}`, `stage:light:${at + 1}`, [at * 2, 21, 2, 4])),
  tileFor("wide", "stage:light:2", [6, 9, 3, 4]),
  tileFor("meter", "stage:sensor:1", [9, 9, 3, 4]),
  // Names that somebody has written into the file by hand:
  tileFor("number", 42, [0, 13, 2, 4]),
  tileFor("unknown", HTML, [2, 13, 2, 4]),
  { id: "endless", module: "history-widget", config: { hours: 1e12, field: 7 }, at: [4, 13, 4, 6] },
  {
    id: "mixed",
    module: "history-widget",
    at: [8, 13, 4, 6],
    config: { field: "power", devices: [5, null, {}, "stage:sensor:1"], title: ["a"] },
  },
  {
    id: "note",
    module: "note-widget",
    at: [0, 17, 2, 4],
    config: { title: { a: 1 }, text: 5, size: "huge" },
  },
  {
    id: "agenda",
    module: "agenda-widget",
    config: { events: -3, calendars: 1 },
    at: [2, 17, 2, 4],
  },
];

test("a home with hostile names and settings", async (t) => {
  const stage = await openStage(t, {
    plugins: ["calendar"],
    tiles: TILES,
    devices: [
      ...NAMES.map((name, at) => lamp(`lamp-${at}`, name, { room: HTML })),
      ...NAMES.map((name, at) => ({ ...WINDOW, nativeId: `window-${at}`, name, room: name })),
      { ...DOOR, name: HTML, state: { locked: false, battery: 8 } },
      { ...METER, name: ENDLESS },
    ],
    files: { "scenes.json": scenesFile() },
  });
  await addPages(stage);
  const { page, faults } = await stage.visit(t, "edit");

  await t.test("shows names as plain text", () => hasText(page));
  await t.test("shows the fault of a tile, or the valid part of its settings", () =>
    hasTiles(page),
  );
  for (const [width, height] of [
    [1280, 800],
    [390, 4_000], // all of it, so that the pages at its foot lie on nothing
  ] as const) {
    await t.test(`fits into ${width} pixels of width`, async () => {
      await page.setViewportSize({ width, height });
      await picture(page, `hostile-${width}`);
      await assertFits(page, { mayBeCut: true });
      await saysStates(page);
    });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await t.test("can be edited and configured with these names", () => isEdited(page));
  assert.deepEqual(faults, []);
  await t.test("ignores false events", (each) => hearsLies(each, stage));
  await t.test("continues when the clock jumps", (each) => jumps(each, stage));
});

async function addPages({ host }: Stage): Promise<void> {
  const layout = (await (await host.api("/layout")).json()) as Layout;
  const [home] = layout.pages;
  assert(home);
  const pages = [
    { ...home, title: HTML, widgets: [...home.widgets, GONE] },
    ...[ENDLESS, EMOJI].map((title, at) => ({ id: `page-${at}`, title, widgets: [] })),
  ];
  const { status } = await host.api("/layout", { method: "PUT", json: { ...layout, pages } });
  assert.equal(status, 200);
}

async function hasText(page: Page): Promise<void> {
  const room = tileOf(page, "room-widget");
  for (const name of NAMES) {
    await room.getByRole("slider", { name, exact: true }).waitFor();
    await page.getByRole("group", { name: "Scenes" }).getByRole("button", { name }).waitFor();
    await page.locator("header .chip", { hasText: name }).waitFor();
  }
  await assertInert(page);
}

/** Only names end with dots: after them is said whole what is open, unlocked or low. */
async function saysStates(page: Page): Promise<void> {
  const chips = await page.locator(".chip.attention").all();

  assert.ok(chips.length > NAMES.length);
  for (const chip of chips) {
    const name = (await chip.locator(".name").textContent()) ?? "";
    assert.ok(NAMES.includes(name));
    const fits = await chip.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
    assert.ok(fits, `all is seen that is said of ${name}`);
  }
}

/** Nothing of a name has become a part of the page, and nothing in it was run. */
async function assertInert(page: Page): Promise<void> {
  assert.equal(await page.locator("img[src=x]").count(), 0);
  assert.equal(await page.evaluate("globalThis.ran"), undefined);
}

async function hasTiles(page: Page): Promise<void> {
  const gone = page.locator(".tile[data-module=departures-widget]");
  await gone.getByText("The module is not installed.").waitFor();
  await page.getByText("Choose a device in the settings of this tile.").waitFor();
  await page.getByText(`Device ${HTML} not found.`).waitFor();
  await page.getByText("Enter a text in the settings of this tile.").waitFor();
  await page.getByText("No device measures temperature.").waitFor();
  await tileOf(page, "history-widget", 1).getByText("No measurements yet.").waitFor();
  assert.equal(await page.locator(".notice.fault").count(), 0);
}

async function isEdited(page: Page): Promise<void> {
  await page.locator(".edit-layout").click();
  await page.getByRole("button", { name: /^departures-widget, column/ }).waitFor();
  await page
    .getByRole("button", { name: /^History.*, column/ })
    .first()
    .click();
  await page.getByText("This must be at most 24.").waitFor();
  await assertInert(page);
  await page.getByRole("button", { name: "Close the editor" }).click();
  await page.goto(`${page.url().replace(/#.*/, "")}#/settings/devices`);
  for (const name of NAMES) await page.getByRole("link", { name }).first().waitFor();
  await assertInert(page);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false);
}

async function hearsLies(t: Parameters<Stage["visit"]>[0], stage: Stage): Promise<void> {
  const { page, faults } = await stage.visit(t);
  const [first] = await devicesOf(stage);
  assert(first);
  let asked = 0;
  await page.route("**/api/v1/events", (route) =>
    asked++ === 0
      ? route.fulfill({ contentType: "text/event-stream", body: liesAbout(first) })
      : route.abort(),
  );

  await page.reload();

  const truth = tileOf(page, "room-widget").getByRole("slider", { name: "The truth" });
  await truth.waitFor();
  await page.getByText("Offline for").waitFor();
  assert.equal(await tileOf(page, "room-widget").getByRole("slider").count(), NAMES.length);
  assert.equal(await page.locator(".notice.fault").count(), 0);
  await page.unroute("**/api/v1/events");
  await truth.waitFor({ state: "detached", timeout: 20_000 * loadNow() });
  await tileOf(page, "room-widget").getByRole("slider", { name: first.name }).waitFor();
  assert.deepEqual(
    faults.filter((fault) => !fault.startsWith("Failed to load resource")),
    [],
  );
}

/** A stream of events that are not what their topics say, the last one apart. */
function liesAbout(device: Device): string {
  const revision = device.revision + 1_000;
  const said = (change: object): object => ({ device: { ...device, revision, ...change } });
  const events: readonly (readonly [string, unknown])[] = [
    ...[5, null, [], "text", {}, { device: 5 }].map((data) => ["device.state", data] as const),
    ["device.state", said({ id: 7 })],
    ["device.state", said({ id: "stage:light:99", name: { first: "a" } })],
    ["device.state", said({ id: "stage:light:99", capabilities: null })],
    ["device.state", said({ id: "stage:light:99", state: [] })],
    ["device.added", said({ id: "stage:light:99", revision: "new" })],
    ["device.removed", { id: {} }],
    ["module.state", { module: { id: "room-widget" } }],
    ["module.state", { module: null }],
    ["widget.updated", { module: "room-widget", hash: 1, url: 2 }],
    ["channel", true],
    ["scene.activated", []],
    ["no.such.topic", { device }],
    ["__proto__", 1],
    ["constructor", {}],
  ];
  const text = events.map(([topic, data]) => `event: ${topic}\ndata: ${JSON.stringify(data)}\n\n`);
  const truth = JSON.stringify(said({ revision: revision - 1, name: "The truth" }));
  return `${text.join("")}event: device.state\ndata: {\n\nevent: device.state\ndata: ${truth}\n\n`;
}

/** The clock of the home jumps too: its answers have the date of the screen. */
const JUMPS_WITH_HOME = `{
  const { get } = Headers.prototype;
  Headers.prototype.get = function (name) {
    return name === "Date" ? new Date().toUTCString() : get.call(this, name);
  };
}`;

async function jumps(t: Parameters<Stage["visit"]>[0], stage: Stage): Promise<void> {
  await patchUi(stage.host, { timeZone: "UTC", night: { from: "20:00", to: "06:00" } });
  const { page, faults } = await stage.visit(t);
  await page.clock.install({ time: "2026-11-20T23:00:00Z" });
  await page.addInitScript(JUMPS_WITH_HOME);
  await page.reload();
  const room = tileOf(page, "room-widget");
  const night = page.locator(":root[data-theme=night] .night time");
  await room.getByRole("slider").first().waitFor();

  // A touch at eleven, and then it is nine: the minute that keeps the night away is a minute.
  await page.keyboard.press("Shift");
  await page.clock.setSystemTime("2026-11-20T21:00:00Z");
  await page.clock.runFor(70_000);
  await night.getByText("21:01").waitFor();
  await page.keyboard.press("Shift");
  await page.locator(":root[data-theme=dark]").waitFor();
  await page.clock.setSystemTime("2027-01-10T12:00:00Z");
  await page.clock.runFor(70_000);
  assert.equal(await page.locator(":root[data-theme=dark]").count(), 1, "it is noon");

  const { length } = await devicesOf(stage);
  assert.equal(await room.getByRole("slider").count(), NAMES.length);
  const [first] = await devicesOf(stage);
  assert(first && length > 0);
  const command = { method: "POST", json: { on: true, brightness: 21 } };
  await stage.host.api(`/smart-home/devices/${first.id}/command`, command);
  await page.clock.runFor(1_000);
  const lit = room.getByRole("slider", { name: first.name });
  await until(async () => (await lit.getAttribute("aria-valuenow")) === "21");
  assert.deepEqual(faults, []);
}

async function devicesOf({ host }: Stage): Promise<readonly Device[]> {
  const answer = (await (await host.api("/smart-home/devices")).json()) as { devices: Device[] };
  return answer.devices;
}

function scenesFile(): string {
  const scenes = NAMES.map((name, at) => [
    `host:scene:${at}`,
    { name, targets: { "stage:light:1": { on: true } } },
  ]);
  return JSON.stringify({ version: 1, scenes: Object.fromEntries(scenes) });
}

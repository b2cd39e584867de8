import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { findWidget, type LayoutDocument } from "../../host/dashboard/editor/document.ts";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { GREEN } from "../helpers/full-home.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { readingsFile } from "../helpers/stage-devices.ts";
import { patchUi, picture } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";
import { serveWeather, THIS_HOUR } from "../plugins/weather/serve.ts";

// With MANTEL_SCREENSHOTS=docs/images this draws the pictures of the README.

const HOUR_MS = 3_600_000;
const EVENING = 18;
/** The time in which figures of the machine are collected for their charts; a test needs none. */
const FIGURES_MS = process.env.MANTEL_SCREENSHOTS === undefined ? 0 : 10_000;

/** Hours east of UTC where it is evening now: a picture shows a day with something behind it and ahead. */
const EAST = ((EVENING - new Date().getUTCHours() + 36) % 24) - 12;
const ZONE = `Etc/GMT${EAST > 0 ? "-" : "+"}${Math.abs(EAST)}`;

/** The number of icons of the menu that are still loading. */
const UNANSWERED = `[...document.querySelectorAll(".settings nav mantel-icon")].filter(
  ({ shadowRoot }) => !shadowRoot?.querySelector("path"),
).length`;

/** The content, and its hours from the last full hour. */
type Appointment = readonly [string, number];

/** A family's evening and the day after. */
const CALENDARS: Readonly<Record<string, readonly Appointment[]>> = {
  Mara: [["Choir rehearsal", 1]],
  Everyone: [
    ["Call with Grandma", 2.5],
    ["Dinner at Lena's", 24],
  ],
  Noah: [["Swimming lesson", 15.25]],
};

interface Fixture {
  readonly host: TestHost;
  readonly browser: Browser;
}

test("the home as it ships", async (t) => {
  const data = await emptyFolder(t);
  await mkdir(join(data, "calendars"));
  for (const [name, events] of Object.entries(CALENDARS)) {
    await writeFile(join(data, `calendars/${name}.ics`), calendar(events));
  }
  await mkdir(join(data, "photos/Holidays"), { recursive: true });
  await writeFile(join(data, "photos/Holidays/beach.png"), GREEN);
  await writeFile(join(data, "photos/meadow.png"), GREEN);
  await writeFile(join(data, "readings.json"), dayOfEnergy());
  const weather = await serveWeather(t, wetEvening());
  const browser = await openBrowser(t);
  const host = await startHost(t, {
    trusted: "all",
    data,
    config: {
      ui: { timeZone: ZONE },
      system: { sampleSeconds: 1 },
      weather: { latitude: 52.5, longitude: 13.4, url: weather.url },
    },
  });
  const fixture = { host, browser };
  await showMemory(host);

  await t.test("fits a wall in the dark and in the light", (each) => fitsWall(each, fixture));
  await t.test("fits a phone", (each) => fitsPhone(each, fixture));
  await t.test("shows its settings", (each) => showsSettings(each, fixture));
  await t.test("has the look that was chosen", (each) => hasItsLook(each, fixture));
  await t.test("is edited beside the gallery", (each) => isEdited(each, fixture));
});

/** Drawing pictures keeps the processor busy; the home in the pictures is idle. */
async function showMemory(host: TestHost): Promise<void> {
  const layout = (await (await host.api("/layout")).json()) as LayoutDocument;
  const cpu = findWidget(layout, "cpu");
  assert(cpu);
  cpu.config = { metric: "memory" };
  const { status } = await host.api("/layout", { method: "PUT", json: layout });
  assert.equal(status, 200);
}

async function fitsWall(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visit(t, fixture);
  await page.getByRole("button", { name: "Dinner" }).click();
  await page.locator("[aria-pressed=true]", { hasText: "Dinner" }).waitFor();
  await page.waitForTimeout(FIGURES_MS);
  for (const theme of ["dark", "light"]) {
    await patchUi(fixture.host, { theme });
    await page.locator(`:root[data-theme=${theme}]`).waitFor();
    await picture(page, theme === "dark" ? "dashboard" : "dashboard-light");
    assert.deepEqual(await sizeOf(page), { width: 1280, height: 800 });
  }
  await patchUi(fixture.host, { theme: "dark" });
}

async function fitsPhone(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visit(t, fixture);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator("[data-module=clock-widget][flow]").waitFor();
  assert.equal((await sizeOf(page)).width, 390, "nothing is to be found sideways");
  await picture(page, "phone");
}

async function showsSettings(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visit(t, fixture);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { name: "General", level: 1 }).waitFor();
  const asked = () => page.evaluate<number>(UNANSWERED);
  await until(async () => (await asked()) === 0);
  await picture(page, "settings");
}

async function hasItsLook(t: TestContext, fixture: Fixture): Promise<void> {
  const { host } = fixture;
  const none = { accent: null, wallpaper: null, screensaver: null };
  const plain = { ...none, idleSeconds: null, theme: "dark" };
  t.after(() => patchUi(host, plain));
  const page = await visit(t, fixture);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("radio", { name: "Blue" }).check();
  await page.locator(":root[data-accent=blue]").waitFor();
  await page.getByRole("radio", { name: "beach.png" }).check();
  await until(async () => (await lookOf(host)).wallpaper?.album === "Holidays");
  await page.getByRole("radio", { name: "meadow.png" }).check();
  await until(async () => (await lookOf(host)).wallpaper?.name === "meadow.png");
  assert.deepEqual(
    (await lookOf(host)).wallpaper,
    { name: "meadow.png" },
    "it is outside the album",
  );
  await page.getByLabel("Screensaver").selectOption("photos");
  await until(async () => (await lookOf(host)).screensaver === "photos");
  await assertAccessible(page);
  await picture(page, "settings-look");

  await page.getByRole("link", { name: "Back to the dashboard" }).click();
  const wallpaper = page.locator(".wallpaper");
  await wallpaper.waitFor();
  assert.deepEqual(await pixelOf(page, ".wallpaper"), GREEN_PIXEL);
  await picture(page, "wallpaper");

  const lamp = page.getByRole("slider", { name: "Sofa lamp" });
  const before = await lamp.getAttribute("aria-valuetext");
  const box = await lamp.boundingBox();
  assert(box);
  await patchUi(host, { idleSeconds: 1, theme: "light" });
  await page.locator(":root[data-theme=light]").waitFor();
  await page.keyboard.press("Shift");
  const saver = page.locator(".screensaver");
  await saver.locator("canvas").waitFor();
  assert.deepEqual(await pixelOf(page, ".screensaver canvas"), GREEN_PIXEL);
  await picture(page, "screensaver");
  await patchUi(host, { idleSeconds: 0 });
  await page.mouse.click(box.x + box.width - 5, box.y + box.height / 2);
  await saver.waitFor({ state: "detached" });
  assert.equal(
    await lamp.getAttribute("aria-valuetext"),
    before,
    "the touch only wakes the screen",
  );

  await patchUi(host, plain);
  await wallpaper.waitFor({ state: "detached" });
  await page.locator(":root:not([data-accent])").waitFor();
}

interface Look {
  readonly wallpaper?: { readonly name: string; readonly album?: string };
  readonly screensaver?: string;
}

async function lookOf(host: TestHost): Promise<Look> {
  const { config } = (await (await host.api("/config")).json()) as { config: { ui: Look } };
  return config.ui;
}

const GREEN_PIXEL = [16, 176, 48, 255];

/** The pixel in the middle of a canvas, as red, green, blue and opacity. */
async function pixelOf(page: Page, selector: string): Promise<number[]> {
  return page.evaluate<number[]>(`(() => {
    const canvas = document.querySelector("${selector}");
    const { width, height } = canvas;
    return [...canvas.getContext("2d").getImageData(width / 2, height / 2, 1, 1).data];
  })()`);
}

async function isEdited(t: TestContext, fixture: Fixture): Promise<void> {
  const page = await visit(t, fixture);
  await page.getByRole("button", { name: "Edit the layout" }).click();
  await page.getByRole("button", { name: "Add a tile" }).click();
  await page.locator(".card .preview .widget").nth(3).waitFor();
  assert.equal(await page.locator(".misfit").count(), 0, "tiles are as large as widgets ask for");
  await picture(page, "editor");
}

async function visit(t: TestContext, { host, browser }: Fixture): Promise<Page> {
  const url = await host.link("admin");
  const { page } = await openPage(t, browser, url);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByText("Choir rehearsal").waitFor();
  await page.getByText("Light rain", { exact: true }).first().waitFor();
  return page;
}

async function sizeOf(page: Page): Promise<{ width: number; height: number }> {
  return page.evaluate(
    "(({ scrollWidth: width, scrollHeight: height }) => ({ width, height }))(document.documentElement)",
  );
}

function calendar(events: readonly Appointment[]): string {
  const at = (hours: number): string =>
    new Date(THIS_HOUR * 1000 + hours * HOUR_MS).toISOString().replaceAll(/[-:]|\.000/g, "");
  return [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Mantel//pictures//EN",
    ...events.flatMap(([summary, hours]) => [
      "BEGIN:VEVENT",
      `UID:${summary}`,
      `DTSTAMP:${at(0)}`,
      `DTSTART:${at(hours)}`,
      `DTEND:${at(hours + 1)}`,
      `SUMMARY:${summary}`,
      "END:VEVENT",
    ]),
    "END:VCALENDAR",
    "",
  ].join("\r\n");
}

/** Rain that is over at eight, as Open-Meteo says it. */
function wetEvening(): object {
  const hours = Array.from({ length: 72 }, (_, index) => index);
  const codes = [61, 61, 3, 2, 2, 1];
  const days = Array.from({ length: 7 }, (_, index) => index);
  return {
    utc_offset_seconds: (EAST * HOUR_MS) / 1000,
    hourly: {
      time: hours.map((index) => THIS_HOUR + (index * HOUR_MS) / 1000),
      temperature_2m: hours.map((index) => 7 - Math.min(4, index * 0.6)),
      weather_code: hours.map((index) => codes[index] ?? 0),
      precipitation: hours.map((index) => (index < 2 ? 0.4 : 0)),
      is_day: hours.map((index) => (index > 13 && index < 24 ? 1 : 0)),
      wind_speed_10m: hours.map(() => 12),
    },
    daily: {
      time: days.map((index) => THIS_HOUR + ((index * 24 - EVENING) * HOUR_MS) / 1000),
      weather_code: [61, 3, 2, 0, 0, 2, 61],
      temperature_2m_max: [8, 9, 11, 12, 13, 11, 9],
      temperature_2m_min: [3, 2, 4, 5, 6, 5, 4],
      precipitation_sum: [1.2, 0, 0, 0, 0, 0, 3],
    },
  };
}

/** The readings of the simulated home's meter: breakfast, lunch and the evening. */
function dayOfEnergy(): string {
  const watts = [2, 2, 2, 2, 2, 3, 6, 9, 7, 4, 3, 5, 8, 6, 4, 3, 4, 8, 11, 9, 7, 5, 3, 2];
  const quarters = Array.from({ length: 24 * 12 }, (_, index) => {
    const hour = (EVENING + 1 + Math.floor(index / 12)) % 24;
    return (watts[hour] ?? 0) / 120;
  });
  let counted = 4812.37 - quarters.reduce((sum, kWh) => sum + kWh, 0);
  const values = quarters.map((kWh) => (counted += kWh));
  const meters = Array.from({ length: 9 }, (_, index) => `demo:sensor:${index + 1} energy`);
  return readingsFile(Object.fromEntries(meters.map((meter) => [meter, values])));
}

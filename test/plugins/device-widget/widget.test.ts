import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { beginDrag, type Box, boxOf } from "../../helpers/browser.ts";
import {
  BLINDS,
  CLIMATE,
  COLOUR_LAMP,
  DOOR,
  FAN,
  HEATING,
  lamp,
  readingsFile,
  SPEAKER,
} from "../../helpers/stage-devices.ts";
import { openStage, patchUi, picture, type Placed, type Stage } from "../../helpers/stage.ts";
import { until } from "../../helpers/until.ts";

const LONG = `<img src=x onerror=alert(1)> \u202Eلمبة 🛋 ${"long ".repeat(30)}`;

test("the device widget", async (t) => {
  const stage = await openStage(t, {
    devices: [
      lamp("plain", "Sofa lamp"),
      lamp("deaf-lamp", "Attic"),
      lamp("busy-lamp", "Cellar"),
      lamp("away", "Garden", { available: false }),
      lamp("named", LONG),
      ...[COLOUR_LAMP, BLINDS, DOOR, HEATING, FAN, SPEAKER, CLIMATE],
    ],
    files: {
      "readings.json": readingsFile({
        "stage:sensor:1 temperature": Array.from({ length: 60 }, (_, index) => 19 + index / 20),
      }),
    },
    tiles: TILES,
  });
  const cases: readonly (readonly [string, Check])[] = [
    ["toggles by a tap", taps],
    ["dims by a horizontal drag, while a vertical one scrolls the page", dims],
    ["shows the pending value until the command times out, then the real one", waits],
    ["reports a refused command immediately", refuses],
    ["asks before it unlocks", unlocks],
    ["sets white, colour and effect of a lamp", colours],
    ["controls covers, fans, thermostats and players", others],
    ["draws the measurements of a sensor", measures],
    ["reports missing data and shows names as plain text", oddities],
    ["drags and steps from right to left in a right-to-left language", mirrored],
    ["has German texts", speaksGerman],
    ["shows the age of its data while the host is unreachable", ages],
  ];
  const { page, faults } = await stage.visit(t);
  await slider(page, "Sofa lamp").waitFor();
  for (const [name, check] of cases) await t.test(name, () => check(page, stage));
  assert.deepEqual(
    faults.filter((fault) => !/Failed to load|ERR_/.test(fault)),
    [],
  );
});

type Check = (page: Page, stage: Stage) => Promise<void>;

const tile = (id: string, device: string, at: Placed["at"]): Placed => ({
  id,
  module: "device-widget",
  config: { device },
  at,
});
const TILES = [
  tile("plain", "stage:light:1", [0, 2, 3, 4]),
  tile("deaf", "stage:light:2", [3, 2, 3, 4]),
  tile("busy", "stage:light:3", [6, 2, 3, 4]),
  tile("away", "stage:light:4", [9, 2, 3, 4]),
  tile("named", "stage:light:5", [0, 6, 2, 4]),
  tile("door", "stage:lock:1", [2, 6, 2, 4]),
  tile("fan", "stage:fan:1", [4, 6, 2, 4]),
  tile("climate", "stage:sensor:1", [6, 6, 2, 4]),
  tile("none", "", [8, 6, 2, 4]),
  tile("gone", "stage:light:99", [10, 6, 2, 4]),
  tile("colour", "stage:light:6", [0, 10, 4, 11]),
  tile("heating", "stage:thermostat:1", [4, 10, 4, 7]),
  tile("speaker", "stage:media-player:1", [8, 10, 4, 7]),
  tile("blinds", "stage:cover:1", [4, 17, 2, 4]),
  tile("narrow-heating", "stage:thermostat:1", [6, 17, 2, 5]),
  tile("narrow-speaker", "stage:media-player:1", [8, 17, 2, 5]),
];

const slider = (page: Page, name: string): Locator => page.getByRole("slider", { name });

async function taps(page: Page, { host }: Stage): Promise<void> {
  await slider(page, "Sofa lamp").click();

  await until(async () => (await stateOf(host, "stage:light:1")).on === false);
  await until(async () => (await slider(page, "Sofa lamp").textContent())?.includes("Off"));
  await picture(page, "device-dark");
}

async function dims(page: Page, { host }: Stage): Promise<void> {
  const lampAt = await boxOf(slider(page, "Sofa lamp"));
  const before = await stateOf(host, "stage:light:1");

  await drag(page, lampAt, { dx: 5, dy: 60 });
  assert.deepEqual(await stateOf(host, "stage:light:1"), before);
  await drag(page, lampAt, { dx: lampAt.width * 0.4, dy: 2 });

  const asked = Number(await slider(page, "Sofa lamp").getAttribute("aria-valuenow"));
  assert.ok(asked > 60 && asked < 70, `it shows ${asked} %, the place of the finger`);
  await until(async () => (await stateOf(host, "stage:light:1")).brightness === asked);
}

async function waits(page: Page): Promise<void> {
  const attic = slider(page, "Attic");

  await attic.press("ArrowRight");

  await until(async () => (await attic.getAttribute("aria-valuenow")) === "65");
  assert.match((await attic.getAttribute("class")) ?? "", /pending/);
  await attic.getByText("No answer").waitFor();
  await until(async () => (await attic.getAttribute("aria-valuenow")) === "60", { withinMs: 500 });
  await until(async () => (await attic.getAttribute("aria-valuetext")) === "60 %");
}

async function refuses(page: Page): Promise<void> {
  const cellar = slider(page, "Cellar");

  await cellar.click();

  await cellar.getByText("No answer").waitFor();
  await until(async () => (await cellar.getAttribute("aria-valuenow")) === "60", { withinMs: 500 });
}

async function unlocks(page: Page, { host }: Stage): Promise<void> {
  const door = page.getByRole("button", { name: /^Front door/ });

  await door.click();
  await door.getByText("Unlock?").waitFor();
  assert.equal((await stateOf(host, "stage:lock:1")).locked, true);
  await door.click();

  await until(async () => (await stateOf(host, "stage:lock:1")).locked === false);
  await door.getByText("Unlocked", { exact: true }).waitFor(); // not "Front door unlocked"
}

async function colours(page: Page, { host }: Stage): Promise<void> {
  const light = (): Promise<State> => stateOf(host, "stage:light:6");

  await slider(page, "White").fill("4000");
  await until(async () => (await light()).colorTemperature === 4000);
  await slider(page, "Colour").fill("120");
  await until(async () => (await light()).color?.hue === 120);
  assert.equal((await light()).color?.saturation, 55);
  await page.getByRole("button", { name: "Candle" }).click();
  await until(async () => (await light()).effect === "candle");

  await page.locator("button[aria-pressed=true]", { hasText: "Candle" }).waitFor();
}

async function others(page: Page, { host }: Stage): Promise<void> {
  await slider(page, "Blinds").press("End");
  await until(async () => (await stateOf(host, "stage:cover:1")).position === 100);
  await slider(page, "Extractor").press("PageUp");
  await until(async () => (await stateOf(host, "stage:fan:1")).speed === 20);
  await page.getByRole("button", { name: "Warmer" }).first().click();
  await until(async () => (await stateOf(host, "stage:thermostat:1")).targetTemperature === 21);
  await slider(page, "Volume").first().fill("50");
  await until(async () => (await stateOf(host, "stage:media-player:1")).volume === 50);
  await page.getByRole("switch", { name: "Muted" }).click();
  await until(async () => (await stateOf(host, "stage:media-player:1")).muted === true);
  await page.getByRole("button", { name: "Pause" }).first().click();
  await until(async () => (await stateOf(host, "stage:media-player:1")).playback === "paused");
}

async function measures(page: Page): Promise<void> {
  const card = page.getByRole("region", { name: "Bath climate" });

  await card.getByText("21.4°").waitFor();
  await card.locator("svg .line").waitFor({ state: "attached" });
}

async function oddities(page: Page): Promise<void> {
  await page.getByText("Choose a device in the settings of this tile.").waitFor();
  await page.getByText("Device stage:light:99 not found.").waitFor();
  await slider(page, "Garden").getByText("No answer").waitFor();

  const named = page.locator(".tile .name", { hasText: "long long" });
  assert.equal(await named.textContent(), LONG);
  assert.equal(await page.locator(".tile img").count(), 0);
  const [name, around] = [await boxOf(named), await boxOf(named.locator(".."))];
  assert.ok(name.width < around.width, "a long name stays in its tile");
}

async function mirrored(page: Page, { host }: Stage): Promise<void> {
  await page.evaluate("document.documentElement.dir = 'rtl'");
  const lampAt = await boxOf(slider(page, "Sofa lamp"));
  const before = Number((await stateOf(host, "stage:light:1")).brightness);

  await slider(page, "Sofa lamp").press("ArrowLeft");
  await until(async () => (await stateOf(host, "stage:light:1")).brightness === before + 5);
  await drag(page, lampAt, { dx: lampAt.width * 0.2, dy: 1 });

  await until(async () => Number((await stateOf(host, "stage:light:1")).brightness) < before);
  await picture(page, "device-rtl");
  await page.evaluate("document.documentElement.dir = ''");
}

async function speaksGerman(page: Page, { host }: Stage): Promise<void> {
  await patchUi(host, { locale: "de-DE", theme: "light" });

  await slider(page, "Lautstärke").first().waitFor();
  await page.getByText("21,4°").waitFor();
  await slider(page, "Garden").getByText("Keine Antwort").waitFor();
  await picture(page, "device-light-german");
  await patchUi(host, { locale: null, theme: null });
}

async function ages(page: Page, { host }: Stage): Promise<void> {
  await page.context().setOffline(true);
  await host.stop();

  await page.locator(".stale .age").first().waitFor();
  await picture(page, "device-stale");
}

async function drag(
  page: Page,
  { x, y, width, height }: Box,
  { dx, dy }: { dx: number; dy: number },
): Promise<void> {
  const from = { x: x + width / 4, y: y + height / 3 };
  await beginDrag(page, from, { x: from.x + dx, y: from.y + dy }, { steps: 6 });
  // Beyond the tile nothing is clicked, so an upright drag is not a tap either.
  await page.mouse.move(from.x + dx, from.y + (Math.abs(dy) > Math.abs(dx) ? height * 3 : dy));
  await page.mouse.up();
}

interface State {
  readonly on?: boolean;
  readonly brightness?: number;
  readonly locked?: boolean;
  readonly position?: number;
  readonly speed?: number;
  readonly volume?: number;
  readonly muted?: boolean;
  readonly playback?: string;
  readonly colorTemperature?: number;
  readonly targetTemperature?: number;
  readonly effect?: string;
  readonly color?: { readonly hue: number; readonly saturation: number };
}

async function stateOf({ api }: Stage["host"], id: string): Promise<State> {
  const answer = await api(`/smart-home/devices/${id}`);
  return ((await answer.json()) as { state: State }).state;
}

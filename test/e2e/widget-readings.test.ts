import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { CLIMATE, METER, readingsFile } from "../helpers/stage-devices.ts";
import { openStage, patchUi, picture, type Stage, tileOf } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

const DAY = 288;
const wave = (mid: number) =>
  Array.from({ length: DAY }, (_, index) => Number((mid + 2 * Math.sin(index / 30)).toFixed(2)));

test("widgets that draw measurements", async (t) => {
  const stage = await openStage(t, {
    plugins: ["system"],
    devices: [
      { ...METER, nativeId: "ticking-meter" },
      CLIMATE,
      { ...CLIMATE, nativeId: "attic", name: "Attic climate" },
    ],
    files: {
      "readings.json": readingsFile({
        "stage:sensor:1 energy": Array.from({ length: DAY }, (_, index) => 4800 + index / 20),
        "stage:sensor:2 temperature": wave(20),
        "stage:sensor:3 temperature": wave(17),
      }),
    },
    config: { system: { sampleSeconds: 1 } },
    tiles: [
      { id: "energy", module: "energy-widget", at: [0, 2, 3, 4] },
      {
        id: "none",
        module: "energy-widget",
        config: { meter: "stage:sensor:9" },
        at: [3, 2, 3, 4],
      },
      { id: "cpu", module: "system-widget", at: [6, 2, 2, 4] },
      { id: "heat", module: "system-widget", config: { metric: "temperature" }, at: [8, 2, 2, 4] },
      { id: "temperatures", module: "history-widget", at: [0, 6, 6, 9] },
      { id: "pressure", module: "history-widget", config: { field: "pressure" }, at: [6, 6, 3, 9] },
      { id: "humidity", module: "history-widget", config: { field: "humidity" }, at: [9, 6, 3, 9] },
    ],
  });
  const { page, faults } = await stage.visit(t);
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/history")) asked.push(request.url());
  });

  await t.test("energy shows the power now and the hours of today", () => energy(page));
  await t.test("system measurements continue as a line", () => system(page));
  await t.test("history draws a line for each device, with a text for screen readers", () =>
    history(page),
  );
  await t.test("uPlot is loaded once and adds its listeners once, over all reloads", () =>
    swaps(page, stage),
  );
  await t.test("all of them have a light theme and German texts", () => german(page, stage));
  await t.test("a device change alone requests no measurements", () => {
    assert.ok(asked.length < 40, `${asked.length} requests`);
  });
  assert.deepEqual(faults, []);
});

async function energy(page: Page): Promise<void> {
  const card = page.getByRole("region", { name: "Energy" });

  await card.getByText("1.2kW").waitFor();
  await card.getByText(/\d kWh today/).waitFor();
  assert.equal(await card.locator(".bars i").count(), 24);
  await tileOf(page, "energy-widget", 1).getByText("No meter yet").waitFor();
}

async function system(page: Page): Promise<void> {
  const card = page.getByRole("region", { name: "Server CPU" });

  await card.getByText(/^\d+%$/).waitFor();
  await card.locator("svg .line").waitFor({ state: "attached" });
}

async function history(page: Page): Promise<void> {
  const card = page.getByRole("region", { name: "Temperature" }).last();

  await card.locator("canvas").waitFor();
  await card.getByText("Bath climate").waitFor();
  await card.getByText("Attic climate").waitFor();
  await page.getByText("No device measures pressure.").waitFor();
  await page.getByText("No measurements yet.").waitFor();
  const before = await card.locator("li b").first().textContent();
  await card.locator(".u-over").hover({ position: { x: 200, y: 60 } });
  await until(async () => (await card.locator("li b").first().textContent()) !== before);
  await picture(page, "readings-dark");
}

/** Counts in the browser, because a widget's code runs again at each swap. */
async function swaps(page: Page, { host }: Stage): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  const listeners = async (): Promise<number> => {
    await client.send("HeapProfiler.collectGarbage");
    const { metrics } = await client.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "JSEventListeners")?.value ?? 0;
  };
  const file = join(host.plugins, "history-widget/widget.ts");
  const source = await readFile(file, "utf8");
  const swapTo = async (word: string): Promise<void> => {
    await writeFile(file, source.replaceAll("No measurements yet.", word));
    await page.getByText(word).waitFor();
    await page.locator("[data-module=history-widget] canvas").waitFor();
  };
  await swapTo("First");
  const before = await listeners();

  for (const name of ["Second", "Third", "Fourth"]) await swapTo(name);

  await until(async () => (await listeners()) <= before + 2, { withinMs: 5_000 });
}

async function german(page: Page, { host }: Stage): Promise<void> {
  await patchUi(host, { theme: "light", locale: "de-DE" });

  await page.getByRole("region", { name: "Energie" }).first().getByText("1,2kW").waitFor();
  await page.getByRole("region", { name: "Temperatur" }).last().waitFor();
  await picture(page, "readings-light-german");
}

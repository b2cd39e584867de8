import { test } from "node:test";
import type { Page } from "playwright-core";
import { openStage, patchUi, picture, type Stage, tileOf } from "../../helpers/stage.ts";
import { until } from "../../helpers/until.ts";
import { openMeteoAnswer, serveWeather, type WeatherServer } from "../weather/serve.ts";

test("the weather widget", async (t) => {
  const server = await serveWeather(t, openMeteoAnswer());
  const stage = await openStage(t, {
    plugins: ["weather"],
    tiles: [
      { id: "wall", module: "weather-widget", at: [0, 2, 4, 6] },
      { id: "narrow", module: "weather-widget", at: [4, 2, 2, 4] },
      { id: "tall", module: "weather-widget", at: [6, 2, 4, 14] },
    ],
  });
  const { page } = await stage.visit(t);

  await t.test("a tile without a town says so to those who may not set it up", () => setsUp(page));
  await t.test("shows now, the hours and the days", () => shows(page, stage, server));
  await t.test("texts are German, and values are in the units of the home", () =>
    speaks(page, stage),
  );
  await t.test("the last forecast is kept while the service is unreachable", () =>
    keeps(page, stage, server),
  );
});

async function setsUp(page: Page): Promise<void> {
  const wall = tileOf(page, "weather-widget");

  await wall.getByText("The weather is not set up yet").waitFor();
  await wall.getByText("Add your town in the settings.").waitFor();
  await picture(page, "weather-not-set-up");
}

async function shows(page: Page, { host }: Stage, { url }: WeatherServer): Promise<void> {
  const weather = { latitude: 52.5, longitude: 13.4, place: "Berlin", url };
  await host.api("/config", { method: "PATCH", json: { weather } });

  const wall = tileOf(page, "weather-widget").getByRole("region", { name: "Weather in Berlin" });
  await wall.getByText("Light rain").first().waitFor();
  await wall.locator(".now b", { hasText: "7°" }).waitFor();
  await wall.getByText(/dry after \d\d:\d\d/).waitFor();
  await until(async () => (await wall.locator(".hours li").count()) === 6);
  await until(
    async () => (await tileOf(page, "weather-widget", 1).locator(".hours").count()) === 0,
  );
  await until(
    async () => (await tileOf(page, "weather-widget", 2).locator(".days li").count()) === 5,
  );
  await tileOf(page, "weather-widget", 2).getByText("Forecast by Open-Meteo").last().waitFor();
  await picture(page, "weather-dark");
}

async function speaks(page: Page, { host }: Stage): Promise<void> {
  await patchUi(host, { locale: "de-DE", units: "imperial", theme: "light" });

  const wall = tileOf(page, "weather-widget");
  await wall.getByText("Leichter Regen").first().waitFor();
  await wall.locator(".now b", { hasText: "45°" }).waitFor();
  await picture(page, "weather-light-german");
  await patchUi(host, { locale: null, units: null, theme: null });
}

async function keeps(page: Page, { host }: Stage, server: WeatherServer): Promise<void> {
  server.fail();
  await host.api("/modules/weather/reload", { method: "POST" });

  await tileOf(page, "weather-widget").locator(".now b", { hasText: "7°" }).waitFor();
  await until(async () => {
    const module = (await (await host.api("/modules/weather")).json()) as { state: string };
    return module.state === "active";
  });
  await picture(page, "weather-kept");
}

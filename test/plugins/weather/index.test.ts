import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { WeatherForecast } from "@mantel/plugin-sdk";
import { startHost, type TestHost } from "../../helpers/host.ts";
import { until } from "../../helpers/until.ts";
import { metNorwayAnswer, openMeteoAnswer, serveWeather, THIS_HOUR } from "./serve.ts";

const PLACE = { latitude: 52.520008, longitude: 13.404954 };
const NOW = new Date(THIS_HOUR * 1000).toISOString();

test("Open-Meteo's columns become hours from now on, and days", async (t) => {
  const { url, requests } = await serveWeather(t, openMeteoAnswer());
  const host = await startWeather(t, { ...PLACE, url, place: "Berlin" });

  const { hours, days, place, source } = await forecastOf(host);

  assert.deepEqual([place, source], ["Berlin", "Open-Meteo"]);
  assert.deepEqual(hours[0], {
    ...{ at: NOW, temperatureC: 7, condition: "light-rain", day: false },
    ...{ rainMm: 0.2, windKmh: 12.4 },
  });
  assert.deepEqual(
    hours.slice(2, 10).map(({ condition }) => condition),
    ["light-rain", "cloudy", "partly-cloudy", "clear", "clear", "thunderstorm", "snow", "fog"],
  );
  assert.equal(hours.length, 68, "an hour without a temperature is left out");
  assert.equal(days[0]?.date, NOW.slice(0, 10));
  assert.deepEqual([days[2]?.lowC, days[2]?.condition, days[2]?.rainMm], [-4.4, "snow", 5]);
  const asked = new URL(requests[0]?.url ?? "", url).searchParams;
  assert.deepEqual([asked.get("latitude"), asked.get("timeformat")], ["52.520008", "unixtime"]);
});

test("MET Norway is told who asks and where to four decimals, and what is known already", async (t) => {
  const { url, requests } = await serveWeather(t, metNorwayAnswer());
  const options = { source: "met-norway", ...PLACE, url, contact: "home@example.org" };
  const host = await startWeather(t, options);

  const { hours, days, source, fetchedAt } = await forecastOf(host);

  assert.deepEqual([source, hours.length], ["MET Norway", 48]);
  const { condition, day, rainMm, windKmh } = hours[0] ?? {};
  assert.deepEqual([condition, day, rainMm, windKmh], ["light-rain", false, 0.5, 9]);
  assert.ok(days.length >= 4);
  assert.ok(days.every(({ lowC, highC }) => lowC <= highC));
  const [first] = requests;
  assert.match(first?.headers["user-agent"] ?? "", /^Mantel\/\S+ home@example\.org$/);
  assert.match(first?.url ?? "", /lat=52\.5200&lon=13\.4050/);

  // What was fetched is asked for again only when it has expired, also by the next generation.
  await host.api("/modules/weather/reload", { method: "POST" });
  assert.equal((await forecastOf(host)).fetchedAt, fetchedAt);
  assert.equal(requests.length, 1);
});

test("a service that fails, or answers in another form, is named", async (t) => {
  const { url } = await serveWeather(t, { error: true, reason: "no such place" });

  const host = await startWeather(t, { ...PLACE, url });

  const { error } = await until(async () => {
    const module = await moduleOf(host);
    return module.state === "degraded" && module;
  });
  assert.match(error?.message ?? "", /Open-Meteo answered in another form/);
  assert.equal((await host.api("/weather")).status, 503);
});

test("without a place it does not run, and says what is missing", async (t) => {
  const host = await startHost(t, {
    plugins: ["plugins/weather"],
    config: { weather: { latitude: 1 } },
  });

  const { error } = await until(async () => {
    const module = await moduleOf(host);
    return module.state === "unconfigured" && module;
  });

  assert.match(error?.message ?? "", /\/longitude/);
});

async function startWeather(t: TestContext, weather: object): Promise<TestHost> {
  return startHost(t, {
    plugins: ["plugins/weather"],
    config: { weather, ui: { timeZone: "UTC" } },
  });
}

async function forecastOf(host: TestHost): Promise<WeatherForecast> {
  const answer = await until(async () => {
    const response = await host.api("/weather");
    return response.ok && response;
  });
  return (await answer.json()) as WeatherForecast;
}

async function moduleOf(
  host: TestHost,
): Promise<{ state: string; error: { message: string } | null }> {
  return (await (await host.api("/modules/weather")).json()) as {
    state: string;
    error: { message: string } | null;
  };
}

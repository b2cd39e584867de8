import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import type { Coordinates } from "@mantel/plugin-sdk";
import { type RunningTest, startPlugin } from "@mantel/plugin-sdk/testing";
import { faultsOf } from "../../../host/validate.ts";
import { WeatherForecast } from "../../../plugins/weather/channels.ts";
import plugin from "../../../plugins/weather/index.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";
import { metNorwayAnswer, openMeteoAnswer, serveWeather, THIS_HOUR } from "./serve.ts";

const PLACE = { latitude: 52.520008, longitude: 13.404954 };
const NOW = new Date(THIS_HOUR * 1000).toISOString();
after(watchResources());

test("Open-Meteo's columns become days and hours, starting now", async (t) => {
  const { url, requests } = await serveWeather(t, openMeteoAnswer());
  const weather = await startWeather(t, { ...PLACE, url, place: "Berlin" });

  const { hours, days, place, source } = await forecastOf(weather);

  assert.deepEqual([place, source], ["Berlin", "Open-Meteo"]);
  assert.deepEqual(hours[0], {
    at: NOW,
    temperatureC: 7,
    condition: "light-rain",
    day: false,
    rainMm: 0.2,
    windKmh: 12.4,
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

test("without a place in its options the forecast is for the home", async (t) => {
  const { url, requests } = await serveWeather(t, openMeteoAnswer());
  const coordinates = { latitude: 48, longitude: 7.85, name: "Freiburg" };
  const weather = await startWeather(t, { url }, coordinates);

  const { place } = await forecastOf(weather);

  assert.equal(place, "Freiburg");
  assert.equal(new URL(requests[0]?.url ?? "", url).searchParams.get("longitude"), "7.85");
});

test("requests to MET Norway identify the client and round the place to four decimals", async (t) => {
  const { url, requests } = await serveWeather(t, metNorwayAnswer());
  const options = { source: "met-norway", ...PLACE, url, contact: "home@example.org" };
  const weather = await startWeather(t, options);

  const { hours, days, source } = await forecastOf(weather);

  assert.deepEqual([source, hours.length], ["MET Norway", 48]);
  const { condition, day, rainMm, windKmh } = hours[0] ?? {};
  assert.deepEqual([condition, day, rainMm, windKmh], ["light-rain", false, 0.5, 9]);
  assert.ok(days.length >= 4);
  assert.ok(days.every(({ lowC, highC }) => lowC <= highC));
  const [first] = requests;
  assert.match(first?.headers["user-agent"] ?? "", /^Mantel\/\S+ home@example\.org$/);
  assert.match(first?.url ?? "", /lat=52\.5200&lon=13\.4050/);
});

test("a service that fails, or answers in another form, is named", async (t) => {
  const { url } = await serveWeather(t, { error: true, reason: "no such place" });

  const weather = await startWeather(t, { ...PLACE, url });

  const reason = await until(() => weather.degraded);
  assert.match(reason, /Open-Meteo answered in another form/);
  assert.equal(weather.published["forecast"], undefined);
});

async function startWeather(
  t: TestContext,
  options: object,
  coordinates?: Coordinates,
): Promise<RunningTest> {
  // Otherwise a test that runs while an hour begins would look for the hour before.
  t.mock.timers.enable({ apis: ["Date"], now: (THIS_HOUR + 600) * 1_000 });
  const config = { source: "open-meteo", refreshMinutes: 30, ...options };
  const running = await startPlugin(plugin, {
    config,
    timeZone: "UTC",
    ...(coordinates && { home: { coordinates } }),
  });
  t.after(() => running.stop());
  return running;
}

async function forecastOf(weather: RunningTest): Promise<WeatherForecast> {
  const forecast = await until(() => weather.published["forecast"]);
  assert.deepEqual(faultsOf(WeatherForecast, forecast), []);
  return forecast as WeatherForecast;
}

import assert from "node:assert/strict";
import { test } from "node:test";
import type { WeatherForecast } from "@mantel/plugin-sdk";
import { Bus } from "../../../host/events/bus.ts";
import { Weather } from "../../../host/weather/weather.ts";
import { serveApp } from "../http/serve-app.ts";

const FORECAST: WeatherForecast = {
  place: null,
  source: "Open-Meteo",
  fetchedAt: "2026-11-20T18:00:00Z",
  hours: [],
  days: [],
};

test("a forecast is kept, announced and served until its module ends", async (t) => {
  const bus = new Bus();
  const weather = new Weather({ bus });
  const topics: string[] = [];
  bus.on(({ topic }) => topics.push(topic));
  const { api } = await serveApp(t, { weather });

  weather.accept(FORECAST);

  const answer = await api("read", "/weather");
  assert.deepEqual(await answer.json(), { forecast: FORECAST });
  const headers = { "If-None-Match": answer.headers.get("ETag") ?? "" };
  assert.equal((await api("read", "/weather", { headers })).status, 304);
  assert.deepEqual(topics, ["weather.updated"]);
  weather.gone();
  assert.deepEqual(await (await api("read", "/weather")).json(), { forecast: null });
});

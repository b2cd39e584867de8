import assert from "node:assert/strict";
import { test } from "node:test";
import { Check } from "typebox/value";
import type { ModuleView } from "../../../host/api/module.ts";
import { previewForecast } from "../../../plugins/weather-widget/widget/preview.ts";
import { WeatherForecast } from "../../../plugins/weather/channels.ts";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: weather } = await import("../../../plugins/weather-widget/widget.ts");

const NOW = Date.UTC(2026, 10, 20, 12);
const forecast = {
  place: "Town",
  source: "Institute",
  fetchedAt: "2026-11-20T11:00:00Z",
  hours: Array.from({ length: 24 }, (_, hour) => ({
    at: new Date(NOW + (hour - 1) * 3_600_000).toISOString(),
    temperatureC: 6 - hour / 4,
    condition: hour < 3 ? "cloudy" : "rain",
    day: true,
    rainMm: 0,
    windKmh: null,
  })),
  days: ["20", "21", "22"].map((day) => ({
    date: `2026-11-${day}`,
    lowC: 1,
    highC: 8.4,
    condition: "rain",
    rainMm: day === "21" ? 4.25 : 0.2,
  })),
};
const channels = { "weather/forecast": forecast };

test("the weather shows the present sky, the next hours and the days that fit", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: NOW });
  const { config, size, root, textOf, waitFor } = mountOnPage(t, weather, { channels });
  const now = await waitFor(".now");
  const hours = textOf(".hours li");
  const days = textOf(".days li");

  config.value = { hours: 2, days: 1 };
  const fewer = [textOf(".hours li").length, textOf(".days li").length];
  size.value = { ...size.value, height: 140 };

  assert.deepEqual(now, ["6° Cloudywet from 14:00 · low 3°"]);
  assert.deepEqual([hours.length, hours[0]], [6, "13:00 Cloudy 6°"]);
  assert.deepEqual(days, ["Sat Rain 4.3 mm 1° 8°", "Sun Rain 1° 8°"]);
  assert.deepEqual(fewer, [2, 1]);
  assert.equal(root.querySelector(".hours, .days"), null);
  assert.equal(root.querySelector("section")?.getAttribute("aria-label"), "Weather in Town");
});

test("an old forecast shows its age", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: NOW + 4 * 3_600_000 });
  const { root, textOf, waitFor } = mountOnPage(t, weather, { channels });
  await waitFor(".now");

  assert.deepEqual(textOf(".now span"), ["5 hr ago"]);
  assert.equal(root.querySelector("section")?.className, "stale");
});

test("a missing forecast is explained by the state of the weather module", (t) => {
  const { store, textOf } = mountOnPage(t, weather);
  const states = (["active", "unconfigured", "failed"] as const).map((state) => {
    const error = state === "failed" ? { message: "no network" } : null;
    store.putModule({ id: "weather", name: "Weather", state, error } as ModuleView);
    return textOf(".empty strong, .empty span").filter((text) => text !== "");
  });

  assert.deepEqual(states, [
    ["Loading the forecast …"],
    ["The weather is not set up yet", "Add your town in the settings."],
    ["No forecast available", "no network"],
  ]);
});

test("the forecast in the editor is one that the channel accepts, from now on", () => {
  const shown = previewForecast();

  assert.ok(Check(WeatherForecast, shown));
  const first = Date.parse(shown.hours[0]?.at ?? "");
  assert.ok(first <= Date.now() && first > Date.now() - 2 * 3_600_000);
});

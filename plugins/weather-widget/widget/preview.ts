import type { Forecast } from "./forecast.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A forecast: a rainy evening that clears up. */
export function previewForecast(): Forecast {
  const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const conditions = ["light-rain", "cloudy", "partly-cloudy", "clear"] as const;
  return {
    place: null,
    source: "Mantel",
    fetchedAt: new Date(now).toISOString(),
    hours: Array.from({ length: 24 }, (_, hour) => ({
      at: new Date(now + hour * HOUR_MS).toISOString(),
      temperatureC: 7 - hour / 4,
      condition: conditions[Math.min(3, Math.floor(hour / 2))] ?? "clear",
      day: hour < 3,
      rainMm: hour < 2 ? 0.4 : 0,
      windKmh: 14,
    })),
    days: Array.from({ length: 5 }, (_, day) => ({
      date: new Date(now + day * DAY_MS).toISOString().slice(0, 10),
      lowC: 2 + day,
      highC: 8 + day,
      condition: conditions[day % 4] ?? "clear",
      rainMm: day === 0 ? 1.2 : 0,
    })),
  };
}

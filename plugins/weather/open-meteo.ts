import { type Static, Type } from "@mantel/plugin-sdk";
import { Check } from "typebox/value";
import type { WeatherCondition, WeatherDay, WeatherHour } from "./channels.ts";
import { beginningOfHour, type Source } from "./source.ts";

const Numbers = Type.Array(Type.Union([Type.Number(), Type.Null()]));
const Times = Type.Array(Type.Number());
/** The requested part of `/v1/forecast` (open-meteo.com/en/docs): columns, with Unix times. */
const Answer = Type.Object({
  utc_offset_seconds: Type.Number(),
  hourly: Type.Object({
    time: Times,
    temperature_2m: Numbers,
    weather_code: Numbers,
    precipitation: Numbers,
    is_day: Numbers,
    wind_speed_10m: Numbers,
  }),
  daily: Type.Object({
    time: Times,
    weather_code: Numbers,
    temperature_2m_max: Numbers,
    temperature_2m_min: Numbers,
    precipitation_sum: Numbers,
  }),
});
type Answer = Static<typeof Answer>;

const columnsOf = (part: "hourly" | "daily"): string =>
  Object.keys(Answer.properties[part].properties)
    .filter((name) => name !== "time")
    .join(",");

/** Open-Meteo, free for homes (CC BY 4.0). */
export const OPEN_METEO: Source = {
  name: "Open-Meteo",
  url: "https://api.open-meteo.com/v1/forecast",
  query: ({ latitude, longitude }, timeZone) =>
    new URLSearchParams({
      latitude: `${latitude}`,
      longitude: `${longitude}`,
      hourly: columnsOf("hourly"),
      daily: columnsOf("daily"),
      timeformat: "unixtime",
      timezone: timeZone,
      forecast_days: "7",
    }),
  parse(answer) {
    if (!Check(Answer, answer)) throw new Error("Open-Meteo answered in another form");
    return { hours: hoursOf(answer), days: daysOf(answer) };
  },
};

function hoursOf({ hourly }: Answer): WeatherHour[] {
  const from = beginningOfHour(Date.now());
  return hourly.time.flatMap((seconds, index) => {
    const temperatureC = hourly.temperature_2m[index];
    if (seconds * 1000 < from || typeof temperatureC !== "number") return [];
    return [
      {
        at: new Date(seconds * 1000).toISOString(),
        temperatureC,
        condition: conditionOf(hourly.weather_code[index]),
        day: hourly.is_day[index] !== 0,
        rainMm: hourly.precipitation[index] ?? 0,
        windKmh: hourly.wind_speed_10m[index] ?? null,
      },
    ];
  });
}

/** Days are given by the instants at which they start, so the offset determines the date. */
function daysOf({ daily, utc_offset_seconds: offset }: Answer): WeatherDay[] {
  return daily.time.flatMap((seconds, index) => {
    const highC = daily.temperature_2m_max[index];
    const lowC = daily.temperature_2m_min[index];
    if (typeof highC !== "number" || typeof lowC !== "number") return [];
    return [
      {
        date: new Date((seconds + offset) * 1000).toISOString().slice(0, 10),
        lowC,
        highC,
        condition: conditionOf(daily.weather_code[index]),
        rainMm: daily.precipitation_sum[index] ?? 0,
      },
    ];
  });
}

/** Codes of WMO table 4677 as Open-Meteo uses them. */
const CONDITIONS: readonly (readonly [condition: WeatherCondition, ...codes: number[]])[] = [
  ["clear", 0, 1],
  ["partly-cloudy", 2],
  ["cloudy", 3],
  ["fog", 45, 48],
  ["light-rain", 51, 53, 55, 61, 80],
  ["rain", 63, 65, 81, 82],
  ["sleet", 56, 57, 66, 67],
  ["snow", 71, 73, 75, 77, 85, 86],
  ["thunderstorm", 95, 96, 99],
];

function conditionOf(code: number | null | undefined): WeatherCondition {
  const found = CONDITIONS.find(([, ...codes]) => codes.includes(code ?? -1));
  return found?.[0] ?? "cloudy";
}

import { type Static, Type } from "@mantel/plugin-sdk";
import { Check } from "typebox/value";
import type { WeatherCondition, WeatherDay, WeatherHour } from "./channels.ts";
import { beginningOfHour, type Source } from "./source.ts";

const Next = Type.Optional(
  Type.Object({
    summary: Type.Object({ symbol_code: Type.String() }),
    details: Type.Optional(Type.Object({ precipitation_amount: Type.Optional(Type.Number()) })),
  }),
);
const Step = Type.Object({
  time: Type.String(),
  data: Type.Object({
    instant: Type.Object({
      details: Type.Object({
        air_temperature: Type.Optional(Type.Number()),
        wind_speed: Type.Optional(Type.Number()),
      }),
    }),
    next_1_hours: Next,
    next_6_hours: Next,
  }),
});
type Step = Static<typeof Step>;
/** `locationforecast/2.0/compact` (api.met.no): GeoJSON with hours, then steps of six hours. */
const Answer = Type.Object({ properties: Type.Object({ timeseries: Type.Array(Step) }) });

const KMH_PER_MS = 3.6;

/** The Norwegian Meteorological Institute, for the whole world (CC BY 4.0). */
export const MET_NORWAY: Source = {
  name: "MET Norway",
  url: "https://api.met.no/weatherapi/locationforecast/2.0/compact",
  // More than four decimals are refused, because they would defeat the service's caches.
  query: ({ latitude, longitude }) =>
    new URLSearchParams({ lat: latitude.toFixed(4), lon: longitude.toFixed(4) }),
  parse(answer, timeZone) {
    if (!Check(Answer, answer)) throw new Error("MET Norway answered in another form");
    const from = beginningOfHour(Date.now());
    const steps = answer.properties.timeseries.filter(({ time }) => Date.parse(time) >= from);
    return { hours: steps.flatMap(hourOf), days: daysOf(steps, timeZone) };
  },
};

function hourOf({ time, data }: Step): WeatherHour[] {
  const { air_temperature: temperatureC, wind_speed: wind } = data.instant.details;
  const next = data.next_1_hours;
  if (temperatureC === undefined || !next) return [];
  const symbol = next.summary.symbol_code;
  return [
    {
      at: new Date(time).toISOString(),
      temperatureC,
      condition: conditionOf(symbol),
      // Only symbols that show the sun or moon have a suffix; for others it does not matter.
      day: !symbol.endsWith("_night"),
      rainMm: next.details?.precipitation_amount ?? 0,
      windKmh: wind === undefined ? null : Math.round(wind * KMH_PER_MS * 10) / 10,
    },
  ];
}

/** Dates in the time zone of the home, each with the sky around noon. */
function daysOf(steps: readonly Step[], timeZone: string): WeatherDay[] {
  const dates = new Intl.DateTimeFormat("en-CA", { timeZone });
  const byDate = new Map<string, Step[]>();
  for (const step of steps) {
    const date = dates.format(Date.parse(step.time));
    byDate.set(date, [...(byDate.get(date) ?? []), step]);
  }
  return [...byDate].flatMap(([date, day]) => {
    const temperatures = day.flatMap(({ data }) => data.instant.details.air_temperature ?? []);
    const symbol = symbolOf(day);
    if (temperatures.length === 0 || symbol === undefined) return [];
    return [
      {
        date,
        lowC: Math.min(...temperatures),
        highC: Math.max(...temperatures),
        condition: conditionOf(symbol),
        rainMm: Math.round(day.reduce((sum, step) => sum + rainOf(step), 0) * 10) / 10,
      },
    ];
  });
}

/** The sky around noon; none for a day that has only the last step, which says a temperature alone. */
function symbolOf(day: readonly Step[]): string | undefined {
  const told = day.flatMap(({ data }) => data.next_6_hours ?? data.next_1_hours ?? []);
  return told[Math.floor(told.length / 2)]?.summary.symbol_code;
}

/** Hourly steps have both sums; the longer one would count rain six times. */
function rainOf({ data }: Step): number {
  return (data.next_1_hours ?? data.next_6_hours)?.details?.precipitation_amount ?? 0;
}

/** Parts of symbol names by priority, for example in `lightrainshowers_day`. */
const CONDITIONS: readonly (readonly [part: string, condition: WeatherCondition])[] = [
  ["thunder", "thunderstorm"],
  ["snow", "snow"],
  ["sleet", "sleet"],
  ["lightrain", "light-rain"],
  ["rain", "rain"],
  ["fog", "fog"],
  ["partlycloudy", "partly-cloudy"],
  ["cloudy", "cloudy"],
  ["fair", "partly-cloudy"],
  ["clearsky", "clear"],
];

function conditionOf(symbol: string): WeatherCondition {
  return CONDITIONS.find(([part]) => symbol.includes(part))?.[1] ?? "cloudy";
}

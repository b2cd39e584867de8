import { defineChannels, type Static, Type } from "@mantel/plugin-sdk";
import type { TSchema } from "typebox";

const Strict = { additionalProperties: false } as const;
const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Weather conditions, from the most pleasant to the most severe. */
const WEATHER_CONDITIONS = [
  "clear",
  "partly-cloudy",
  "cloudy",
  "fog",
  "light-rain",
  "rain",
  "sleet",
  "snow",
  "thunderstorm",
] as const;
export type WeatherCondition = (typeof WEATHER_CONDITIONS)[number];
const Condition = Type.Enum([...WEATHER_CONDITIONS]);
const Instant = Type.String({ format: "date-time" });
const Celsius = Type.Number({ minimum: -150, maximum: 150 });
const Millimetres = Type.Number({ minimum: 0 });

/** The hour that begins at `at`. */
export const WeatherHour = Type.Object(
  {
    at: Instant,
    temperatureC: Celsius,
    condition: Condition,
    /** True if the sun is above the horizon. */
    day: Type.Boolean(),
    rainMm: Millimetres,
    /** Kilometres per hour. */
    windKmh: Nullable(Type.Number({ minimum: 0 })),
  },
  Strict,
);
export type WeatherHour = Static<typeof WeatherHour>;

/** The forecast for one day, in the place's time zone. */
export const WeatherDay = Type.Object(
  {
    date: Type.String({ format: "date" }),
    lowC: Celsius,
    highC: Celsius,
    condition: Condition,
    rainMm: Millimetres,
  },
  Strict,
);
export type WeatherDay = Static<typeof WeatherDay>;

/** The forecast for one place: hours and days in order, beginning with the current ones. */
export const WeatherForecast = Type.Object(
  {
    /** The user-facing name of the place; null if it has none. */
    place: Nullable(Type.String({ maxLength: 200 })),
    /** The attribution of the forecast's provider, in the form that its licence requires. */
    source: Type.String({ maxLength: 200 }),
    fetchedAt: Instant,
    hours: Type.Array(WeatherHour, { maxItems: 400 }),
    days: Type.Array(WeatherDay, { maxItems: 20 }),
  },
  Strict,
);
export type WeatherForecast = Static<typeof WeatherForecast>;

export const channels = defineChannels({
  forecast: { schema: WeatherForecast, title: "Weather forecast" },
});

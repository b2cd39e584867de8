import { Type, type Static } from "typebox";
import { Nullable, Strict } from "./schema.ts";

/** What the sky does, in the order of how much it matters to somebody who goes out. */
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
    /** Whether the sun is up. */
    day: Type.Boolean(),
    rainMm: Millimetres,
    /** Kilometres per hour. */
    windKmh: Nullable(Type.Number({ minimum: 0 })),
  },
  Strict,
);
export type WeatherHour = Static<typeof WeatherHour>;

/** A day at the place. */
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

/** What is expected at one place: hours and days in order, beginning with the present ones. */
export const WeatherForecast = Type.Object(
  {
    /** The name of the place, for people; null without one. */
    place: Nullable(Type.String({ maxLength: 200 })),
    /** Whose forecast it is, as its licence wants it named. */
    source: Type.String({ maxLength: 200 }),
    fetchedAt: Instant,
    hours: Type.Array(WeatherHour, { maxItems: 400 }),
    days: Type.Array(WeatherDay, { maxItems: 20 }),
  },
  Strict,
);
export type WeatherForecast = Static<typeof WeatherForecast>;

import type { StateValue } from "@mantel/plugin-sdk";
import type { ReadingName } from "@mantel/plugin-sdk/vocabulary";
import { numberIn, textIn } from "./attributes.ts";
import { inUnitOf, readingOf, unitOfReading } from "./canonical-reading.ts";
import { type Domain, stateText, TEXT, type TemperatureUnit } from "./domain.ts";
import type { Attributes } from "./entities.ts";

interface Measure {
  readonly field: ReadingName;
  /** The attribute that holds it. */
  readonly name: string;
  /** The attribute that names its unit; without one it has the unit of the vocabulary. */
  readonly unitName?: string;
}

const MEASURES: readonly Measure[] = [
  { field: "temperature", name: "temperature", unitName: "temperature_unit" },
  { field: "dewPoint", name: "dew_point", unitName: "temperature_unit" },
  { field: "humidity", name: "humidity" },
  { field: "pressure", name: "pressure", unitName: "pressure_unit" },
  { field: "windSpeed", name: "wind_speed", unitName: "wind_speed_unit" },
  { field: "windGust", name: "wind_gust_speed", unitName: "wind_speed_unit" },
  { field: "visibility", name: "visibility", unitName: "visibility_unit" },
  { field: "cloudCover", name: "cloud_coverage" },
  { field: "uvIndex", name: "uv_index" },
];

/** `weather`: a weather station. Its forecasts are not in its state. */
export const weather: Domain = {
  describe(entity, homeUnit) {
    const { attributes } = entity;
    const measured = MEASURES.flatMap((measure) => {
      const value = valueOf(measure, attributes, homeUnit);
      return value === undefined ? [] : [[measure.field, value] as const];
    });
    const bearing = bearingOf(attributes["wind_bearing"]);
    const values: Partial<Record<ReadingName, StateValue>> = {
      ...Object.fromEntries(measured),
      ...(bearing === undefined ? {} : { windDirection: bearing }),
    };
    const apparent = numberIn(attributes, "apparent_temperature");
    const unit = textIn(attributes, "temperature_unit") ?? homeUnit;
    const apparentTemperature =
      apparent === undefined ? undefined : inUnitOf("temperature", apparent, unit);
    return {
      kind: "weather-station",
      capabilities: {
        condition: TEXT,
        ...Object.fromEntries(
          Object.keys(values).map((field) => [field, readingOf(field as ReadingName)]),
        ),
      },
      ...(apparentTemperature === undefined
        ? {}
        : { extra: { apparentTemperature: { ...readingOf("temperature"), group: "main" } } }),
      state: { condition: stateText(entity), ...values, apparentTemperature },
    };
  },
};

function valueOf(
  { field, name, unitName }: Measure,
  attributes: Attributes,
  homeUnit: TemperatureUnit,
): number | undefined {
  const value = numberIn(attributes, name);
  if (value === undefined) return undefined;
  const named = unitName === undefined ? undefined : textIn(attributes, unitName);
  const unit = unitOfReading(field);
  const fallback = unit === "°C" ? homeUnit : unit;
  return inUnitOf(field, value, named ?? fallback);
}

const POINTS = [
  ...["N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE"],
  ...["S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW"],
];

/** Degrees, also for a direction such as `NNE`. */
function bearingOf(value: unknown): number | undefined {
  const degrees = numberIn({ value }, "value");
  if (degrees !== undefined) return degrees >= 0 && degrees <= 360 ? degrees : undefined;
  const point = POINTS.indexOf(String(value).toUpperCase());
  return point < 0 ? undefined : point * 22.5;
}

import { type Capability, toCanonicalUnit } from "@mantel/plugin-sdk";
import { numberIn } from "./attributes.ts";
import type { TemperatureUnit } from "./domain.ts";
import type { Attributes } from "./entities.ts";

/** The range that a target temperature may have in the vocabulary. */
const [COLDEST, HOTTEST] = [-50, 150];

export const CELSIUS = { type: "number", unit: "°C", readOnly: true } as const;

/** A temperature of an entity, in °C; `null` if it has none. */
export function celsiusIn(
  attributes: Attributes,
  name: string,
  unit: TemperatureUnit,
): number | null {
  const value = numberIn(attributes, name);
  return value === undefined ? null : toCanonicalUnit(unit).toOurs(value);
}

export function fromCelsius(celsius: number, unit: TemperatureUnit): number {
  return Number(
    toCanonicalUnit(unit)
      .toTheirs(celsius)
      .toFixed(unit === "°F" ? 1 : 6),
  );
}

/** A target temperature, with bounds if they are plausible. */
export function targetTemperature(attributes: Attributes, unit: TemperatureUnit): Capability {
  const min = celsiusIn(attributes, "min_temp", unit);
  const max = celsiusIn(attributes, "max_temp", unit);
  const step = numberIn(attributes, "target_temp_step") ?? 0.5;
  return {
    type: "number",
    ...(min === null || max === null ? {} : boundsOf(min, max)),
    ...(step > 0 ? { step: unit === "°F" ? 0.5 : step } : {}),
    unit: "°C",
  };
}

function boundsOf(min: number, max: number): { min: number; max: number } | undefined {
  const bounds = { min: Math.max(COLDEST, min), max: Math.min(HOTTEST, max) };
  return bounds.min < bounds.max ? bounds : undefined;
}

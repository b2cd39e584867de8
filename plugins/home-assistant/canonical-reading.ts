import { type Capability, toCanonicalUnit, type Unit } from "@mantel/plugin-sdk";
import { rounded } from "./attributes.ts";

/** Readings of the vocabulary with their units. Indexes and pH have none. */
export const READING_UNITS = {
  acidity: undefined,
  airQualityIndex: undefined,
  apparentPower: "VA",
  battery: "%",
  cloudCover: "%",
  co: "ppm",
  co2: "ppm",
  conductivity: "µS/cm",
  current: "A",
  dewPoint: "°C",
  distance: "m",
  energy: "kWh",
  flow: "m³/h",
  frequency: "Hz",
  gasVolume: "m³",
  humidity: "%",
  illuminance: "lx",
  moisture: "%",
  no2: "µg/m³",
  noise: "dB",
  ozone: "µg/m³",
  pm1: "µg/m³",
  pm10: "µg/m³",
  pm25: "µg/m³",
  pm4: "µg/m³",
  power: "W",
  powerFactor: "%",
  pressure: "hPa",
  rain: "mm",
  rainRate: "mm/h",
  reactivePower: "var",
  signal: "dBm",
  so2: "µg/m³",
  solarIrradiance: "W/m²",
  temperature: "°C",
  uvIndex: undefined,
  visibility: "km",
  voc: "µg/m³",
  vocParts: "ppb",
  voltage: "V",
  water: "m³",
  weight: "kg",
  windDirection: "°",
  windGust: "km/h",
  windSpeed: "km/h",
} as const satisfies Readonly<Record<string, Unit | undefined>>;
export type ReadingName = keyof typeof READING_UNITS;

const DECIMALS = 4;
/** The speed of one Beaufort, and the power by which the others grow, in km/h. */
const [BEAUFORT, BEAUFORT_POWER] = [3.0096, 1.5];

/** Conversions between canonical units of one quantity. */
const BETWEEN: Readonly<Record<string, (value: number) => number>> = {
  "K °C": (value) => value - 273.15,
  "L m³": (value) => value / 1_000,
  "km m": (value) => value * 1_000,
  "mm m": (value) => value / 1_000,
  "ppm ppb": (value) => value * 1_000,
  "ppb ppm": (value) => value / 1_000,
};

/** A reading of the vocabulary as a capability. */
export function readingOf(field: ReadingName): Extract<Capability, { type: "number" }> {
  const unit = READING_UNITS[field];
  return { type: "number", readOnly: true, ...(unit === undefined ? {} : { unit }) };
}

/** A value in the unit of a reading; `undefined` if its own unit is of something else. */
export function inUnitOf(
  field: ReadingName,
  value: number,
  theirUnit: string | undefined,
): number | undefined {
  const wanted = READING_UNITS[field];
  if (theirUnit === "Beaufort" && wanted === "km/h") {
    return rounded(BEAUFORT * value ** BEAUFORT_POWER, 1);
  }
  const { unit, toOurs } = toCanonicalUnit(theirUnit ?? "");
  if (unit === wanted) return rounded(toOurs(value), DECIMALS);
  const convert = BETWEEN[`${unit ?? ""} ${wanted ?? ""}`];
  return convert && rounded(convert(toOurs(value)), DECIMALS);
}

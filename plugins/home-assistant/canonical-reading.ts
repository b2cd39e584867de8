import { type Capability, toCanonicalUnit, type Unit } from "@mantel/plugin-sdk";
import { type ReadingName, READINGS } from "@mantel/plugin-sdk/vocabulary";
import { rounded } from "./attributes.ts";

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

/** The unit of a reading of the vocabulary. Indexes and pH have none. */
export const unitOfReading = (field: ReadingName): Unit | undefined => READINGS[field].unit;

/** A reading of the vocabulary as a capability. */
export function readingOf(field: ReadingName): Extract<Capability, { type: "number" }> {
  const unit = unitOfReading(field);
  return { type: "number", readOnly: true, ...(unit === undefined ? {} : { unit }) };
}

/** A value in the unit of a reading; `undefined` if its own unit is of something else. */
export function inUnitOf(
  field: ReadingName,
  value: number,
  theirUnit: string | undefined,
): number | undefined {
  const wanted = unitOfReading(field);
  if (theirUnit === "Beaufort" && wanted === "km/h") {
    return rounded(BEAUFORT * value ** BEAUFORT_POWER, 1);
  }
  const { unit, toOurs } = toCanonicalUnit(theirUnit ?? "");
  if (unit === wanted) return rounded(toOurs(value), DECIMALS);
  const convert = BETWEEN[`${unit ?? ""} ${wanted ?? ""}`];
  return convert && rounded(convert(toOurs(value)), DECIMALS);
}

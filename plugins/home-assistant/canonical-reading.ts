import { type Capability, conversionTo, type Unit } from "@mantel/plugin-sdk";
import { type ReadingName, READINGS } from "@mantel/plugin-sdk/vocabulary";
import { rounded } from "./attributes.ts";

const DECIMALS = 4;
/** The speed of one Beaufort, and the power by which the others grow, in km/h. */
const [BEAUFORT, BEAUFORT_POWER] = [3.0096, 1.5];

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
  const convert = conversionTo(wanted, theirUnit ?? "");
  return convert && rounded(convert(value), DECIMALS);
}

import { type Capability, toCanonicalUnit } from "@mantel/plugin-sdk";
import type { ReadingName } from "@mantel/plugin-sdk/vocabulary";
import { choicesIn, rounded, textIn, toNumber } from "./attributes.ts";
import { inUnitOf, readingOf } from "./canonical-reading.ts";
import { choice, type Domain, extras, stateText, TEXT, type View } from "./domain.ts";
import type { Entity } from "./entities.ts";

/** The readings of the vocabulary, by device class. */
const FIELDS: ReadonlyMap<string, ReadingName> = new Map([
  ["apparent_power", "apparentPower"],
  ["aqi", "airQualityIndex"],
  ["atmospheric_pressure", "pressure"],
  ["battery", "battery"],
  ["carbon_dioxide", "co2"],
  ["carbon_monoxide", "co"],
  ["conductivity", "conductivity"],
  ["current", "current"],
  ["distance", "distance"],
  ["energy", "energy"],
  ["frequency", "frequency"],
  ["gas", "gasVolume"],
  ["humidity", "humidity"],
  ["illuminance", "illuminance"],
  ["irradiance", "solarIrradiance"],
  ["moisture", "moisture"],
  ["nitrogen_dioxide", "no2"],
  ["ozone", "ozone"],
  ["ph", "acidity"],
  ["pm1", "pm1"],
  ["pm10", "pm10"],
  ["pm25", "pm25"],
  ["pm4", "pm4"],
  ["power", "power"],
  ["power_factor", "powerFactor"],
  ["precipitation", "rain"],
  ["precipitation_intensity", "rainRate"],
  ["pressure", "pressure"],
  ["reactive_power", "reactivePower"],
  ["signal_strength", "signal"],
  ["sound_pressure", "noise"],
  ["sulphur_dioxide", "so2"],
  ["temperature", "temperature"],
  ["volatile_organic_compounds", "voc"],
  ["volatile_organic_compounds_parts", "vocParts"],
  ["voltage", "voltage"],
  ["volume_flow_rate", "flow"],
  ["water", "water"],
  ["weight", "weight"],
  ["wind_direction", "windDirection"],
  ["wind_speed", "windSpeed"],
] satisfies [string, ReadingName][]);

/** `sensor`: the vocabulary's readings in its units, others as a number with its unit, the rest as text. */
export const sensor: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const unit = textIn(attributes, "unit_of_measurement");
    const named = textIn(attributes, "device_class") ?? "";
    const measured = measure(entity, FIELDS.get(named), unit);
    if (measured) return measured;
    if (isNumeric(entity)) return plainNumber(entity, unit);
    return named === "enum" ? oneOf(entity) : plainText(entity);
  },
};

/** `undefined` if the unit does not belong to this reading. */
function measure(entity: Entity, field: ReadingName | undefined, unit: string | undefined) {
  if (field === undefined) return undefined;
  const factor = field === "powerFactor" && unit === undefined ? 100 : 1;
  const theirUnit = unit ?? DEFAULT_UNITS[field];
  const isOfField = inUnitOf(field, 0, theirUnit) !== undefined;
  if (!isOfField) return undefined;
  const value = toNumber(entity.state);
  const ours = value === undefined ? undefined : inUnitOf(field, value * factor, theirUnit);
  return reading(field, readingOf(field), ours ?? null);
}

/** The units of classes that Home Assistant may show without one. */
const DEFAULT_UNITS: Partial<Record<ReadingName, string>> = { temperature: "°C", powerFactor: "%" };

function reading(field: string, capability: Capability, value: number | null): View {
  return { kind: "sensor", capabilities: { [field]: capability }, state: { [field]: value } };
}

/** An extra with the name of a unit that the vocabulary does not have. */
export function unitExtra(unit: string | undefined): {
  readonly view: Pick<View, "extra">;
  readonly state: View["state"];
} {
  const isKnown = unit === undefined || toCanonicalUnit(unit).unit !== undefined;
  return isKnown
    ? { view: {}, state: {} }
    : { view: { extra: extras({ unit: TEXT }) }, state: { unit } };
}

/** Uses the attributes of the entity, because a value may be a number by chance. */
function isNumeric({ attributes }: Entity): boolean {
  const marks = ["unit_of_measurement", "state_class", "suggested_display_precision"];
  return marks.some((name) => attributes[name] !== undefined);
}

function plainNumber(entity: Entity, theirUnit: string | undefined): View {
  const { unit, toOurs } = toCanonicalUnit(theirUnit ?? "");
  const value = toNumber(entity.state);
  const capability = {
    type: "number",
    readOnly: true,
    ...(unit === undefined ? {} : { unit }),
  } as const;
  const beyond = unitExtra(theirUnit);
  const view = reading("value", capability, value === undefined ? null : rounded(toOurs(value), 4));
  return { ...view, ...beyond.view, state: { ...view.state, ...beyond.state } };
}

function oneOf(entity: Entity): View {
  const values = choicesIn(entity.attributes, "options");
  if (values.length === 0) return plainText(entity);
  const capabilities = choice("value", values, true);
  return { kind: "sensor", capabilities, state: { value: stateText(entity) } };
}

function plainText(entity: Entity): View {
  return { kind: "sensor", capabilities: { value: TEXT }, state: { value: stateText(entity) } };
}

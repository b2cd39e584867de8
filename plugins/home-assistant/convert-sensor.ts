import type { Capabilities, Capability, DeviceState } from "@mantel/plugin-sdk";
import { choicesIn, mapped, rounded, textIn, toNumber } from "./attributes.ts";
import { choice, type Domain, isKnown, stateText, TEXT, type View, YES_NO } from "./domain.ts";
import type { Entity } from "./entities.ts";

type Unit = NonNullable<Extract<Capability, { type: "number" }>["unit"]>;

/** A measure: what it is called here, its unit, and how many of them each unit of there is. */
interface Measure {
  readonly field: string;
  readonly unit: Unit;
  readonly per: Readonly<Record<string, number>>;
}

const PRESSURE: Measure = {
  field: "pressure",
  unit: "hPa",
  per: {
    hPa: 1,
    mbar: 1,
    cbar: 10,
    bar: 1_000,
    Pa: 0.01,
    kPa: 10,
    psi: 68.947_573,
    inHg: 33.863_887,
    mmHg: 1.333_224,
  },
};

/** By device class. */
const MEASURES: ReadonlyMap<string, Measure> = new Map([
  ["humidity", { field: "humidity", unit: "%", per: { "%": 1 } }],
  ["moisture", { field: "moisture", unit: "%", per: { "%": 1 } }],
  ["battery", { field: "battery", unit: "%", per: { "%": 1 } }],
  ["illuminance", { field: "illuminance", unit: "lx", per: { lx: 1 } }],
  ["pressure", PRESSURE],
  ["atmospheric_pressure", PRESSURE],
  ["power", { field: "power", unit: "W", per: { mW: 0.001, W: 1, kW: 1_000, MW: 1e6 } }],
  ["energy", { field: "energy", unit: "kWh", per: { Wh: 0.001, kWh: 1, MWh: 1_000, MJ: 1 / 3.6 } }],
  ["voltage", { field: "voltage", unit: "V", per: { µV: 1e-6, mV: 0.001, V: 1, kV: 1_000 } }],
  ["current", { field: "current", unit: "A", per: { mA: 0.001, A: 1 } }],
  ["carbon_dioxide", { field: "co2", unit: "ppm", per: { ppm: 1 } }],
  ["pm25", { field: "pm25", unit: "µg/m³", per: { "µg/m³": 1, "μg/m³": 1 } }],
  ["pm10", { field: "pm10", unit: "µg/m³", per: { "µg/m³": 1, "μg/m³": 1 } }],
  ["signal_strength", { field: "signal", unit: "dBm", per: { dBm: 1 } }],
  [
    "duration",
    { field: "duration", unit: "s", per: { ms: 0.001, s: 1, min: 60, h: 3_600, d: 86_400 } },
  ],
] satisfies [string, Measure][]);

const UNITS: ReadonlySet<string> = new Set<Unit>([
  ...(["%", "K", "°C", "lx", "W", "kWh", "hPa", "°", "V", "A"] as const),
  ...(["ppm", "µg/m³", "s", "min", "dBm"] as const),
]);

/** `sensor`: known measures in the home's units, others as a number with its unit, the rest as text. */
export const sensor: Domain = {
  describe(entity) {
    const { attributes } = entity;
    const unit = textIn(attributes, "unit_of_measurement");
    const named = textIn(attributes, "device_class") ?? "";
    if (named === "temperature") return temperature(entity, unit);
    const measured = measure(entity, MEASURES.get(named), unit ?? "");
    if (measured) return measured;
    if (isNumeric(entity)) return plainNumber(entity, unit);
    return named === "enum" ? oneOf(entity) : plainText(entity);
  },
};

/** `undefined` if the unit does not belong to this measure. */
function measure(entity: Entity, known: Measure | undefined, unit: string): View | undefined {
  const factor = known && Object.hasOwn(known.per, unit) ? known.per[unit] : undefined;
  if (!known || factor === undefined) return undefined;
  const value = mapped(toNumber(entity.state), (number) => number * factor);
  return reading(known.field, known.unit, value ?? null);
}

function reading(field: string, unit: Unit | undefined, value: number | null): View {
  const capability = { type: "number", readOnly: true, ...(unit ? { unit } : {}) } as const;
  const shown = value === null ? null : rounded(value, 4);
  return { kind: "sensor", capabilities: { [field]: capability }, state: { [field]: shown } };
}

/** A unit that a capability can have, or a field of its own for the unit. */
export function unitOf(unit: string | undefined): {
  readonly known: { unit?: Unit };
  readonly capabilities: Capabilities;
  readonly state: DeviceState;
} {
  if (unit === undefined) return { known: {}, capabilities: {}, state: {} };
  if (UNITS.has(unit)) return { known: { unit: unit as Unit }, capabilities: {}, state: {} };
  return { known: {}, capabilities: { unit: TEXT }, state: { unit } };
}

/** A temperature in any unit of Home Assistant's. */
export function toCelsius(value: number, unit: string | undefined): number {
  if (unit === "°F") return rounded((value - 32) / 1.8);
  return unit === "K" ? rounded(value - 273.15) : value;
}

function temperature(entity: Entity, unit: string | undefined): View {
  const value = mapped(toNumber(entity.state), (number) => toCelsius(number, unit));
  return reading("temperature", "°C", value ?? null);
}

/** Uses the attributes of the entity, because a value may be a number by chance. */
function isNumeric({ attributes }: Entity): boolean {
  const marks = ["unit_of_measurement", "state_class", "suggested_display_precision"];
  return marks.some((name) => attributes[name] !== undefined);
}

function plainNumber(entity: Entity, unit: string | undefined): View {
  const { known, capabilities, state } = unitOf(unit);
  const view = reading("value", known.unit, toNumber(entity.state) ?? null);
  return {
    ...view,
    capabilities: { ...view.capabilities, ...capabilities },
    state: { ...view.state, ...state },
  };
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

/** Device classes whose "on" is another word here; `contact` is true when closed. */
const OPENINGS: ReadonlySet<string> = new Set(["door", "window", "garage_door", "opening"]);
const CLASS_NAME = /^[a-z]+(_[a-z]+)*$/;

/** `binary_sensor`: a field named after the device class. */
export const binarySensor: Domain = {
  describe(entity) {
    const named = textIn(entity.attributes, "device_class") ?? "";
    const isOn = isKnown(entity) ? entity.state === "on" : null;
    const isContact = OPENINGS.has(named);
    const field = isContact ? "contact" : fieldOf(named);
    const value = isContact && isOn !== null ? !isOn : isOn;
    return { kind: "binary-sensor", capabilities: { [field]: YES_NO }, state: { [field]: value } };
  },
};

/** `battery` is a level here, so the class of that name becomes `batteryLow`. */
function fieldOf(deviceClass: string): string {
  if (deviceClass === "battery") return "batteryLow";
  if (!CLASS_NAME.test(deviceClass) || deviceClass.length > 40) return "active";
  return deviceClass.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

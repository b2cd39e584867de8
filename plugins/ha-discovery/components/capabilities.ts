import type { Capability } from "@mantel/plugin-sdk";
import type { Options } from "../options.ts";

export type NumberCapability = Extract<Capability, { type: "number" }>;
type Unit = NonNullable<NumberCapability["unit"]>;

export const SWITCH = { type: "boolean" } as const;
export const YES_NO = { type: "boolean", readOnly: true } as const;
export const COLOR = { type: "color" } as const;
export const TEXT = { type: "text" } as const;
export const SHOWN = { type: "text", readOnly: true } as const;
export const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;

/** One of some texts; `undefined` when there are none. */
export function choice(values: readonly string[] | undefined): Capability | undefined {
  return values && values.length > 0 ? { type: "choice", values: [...values] } : undefined;
}

/** Something that is done and has no state. */
export const DO = { type: "choice", values: ["press"] } satisfies Capability;

/** The Mantel unit for a Home Assistant unit, and the conversions between them. */
interface Told {
  readonly unit?: Unit;
  readonly toOurs: (value: number) => number;
  readonly toTheirs: (value: number) => number;
}

const by = (unit: Unit, factor: number): Told => ({
  unit,
  toOurs: (value) => Number((value * factor).toPrecision(12)),
  toTheirs: (value) => Number((value / factor).toPrecision(12)),
});
const SAME: Told = { toOurs: (value) => value, toTheirs: (value) => value };
const FAHRENHEIT: Told = {
  unit: "°C",
  toOurs: (value) => Number((((value - 32) * 5) / 9).toFixed(2)),
  toTheirs: (value) => Number(((value * 9) / 5 + 32).toFixed(2)),
};

const UNITS: Readonly<Record<string, Told>> = {
  "%": by("%", 1),
  K: by("K", 1),
  "°C": by("°C", 1),
  C: by("°C", 1),
  "°F": FAHRENHEIT,
  F: FAHRENHEIT,
  lx: by("lx", 1),
  W: by("W", 1),
  mW: by("W", 0.001),
  kW: by("W", 1_000),
  kWh: by("kWh", 1),
  Wh: by("kWh", 0.001),
  MWh: by("kWh", 1_000),
  hPa: by("hPa", 1),
  mbar: by("hPa", 1),
  Pa: by("hPa", 0.01),
  kPa: by("hPa", 10),
  bar: by("hPa", 1_000),
  mmHg: by("hPa", 1.333224),
  inHg: by("hPa", 33.86389),
  "°": by("°", 1),
  V: by("V", 1),
  mV: by("V", 0.001),
  A: by("A", 1),
  mA: by("A", 0.001),
  ppm: by("ppm", 1),
  "µg/m³": by("µg/m³", 1),
  "μg/m³": by("µg/m³", 1),
  s: by("s", 1),
  ms: by("s", 0.001),
  min: by("min", 1),
  h: by("min", 60),
  dBm: by("dBm", 1),
};

/** The conversion for the unit of a component. For an unknown unit, it has no unit and leaves values as they are. */
export function unitOf(options: Options, name = "unit_of_measurement"): Told {
  const unit = options.text(name, "");
  return Object.hasOwn(UNITS, unit) ? (UNITS[unit] ?? SAME) : SAME;
}

/** A number capability of a unit, with the bounds that there are. */
export function numberOf(
  { unit }: Told,
  bounds: { min?: number | undefined; max?: number | undefined; step?: number | undefined } = {},
): NumberCapability {
  const { min, max, step } = bounds;
  return {
    type: "number",
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(step === undefined || step <= 0 ? {} : { step }),
    ...(unit === undefined ? {} : { unit }),
  };
}

/** The capabilities of a list that there are. */
export function present(
  entries: readonly (readonly [name: string, capability: Capability | undefined])[],
): Record<string, Capability> {
  const capabilities: Record<string, Capability> = {};
  for (const [name, capability] of entries) if (capability) capabilities[name] = capability;
  return capabilities;
}

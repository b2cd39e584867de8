import { type Capability, toCanonicalUnit, type UnitConversion } from "@mantel/plugin-sdk";
import type { Options } from "../options.ts";

export type NumberCapability = Extract<Capability, { type: "number" }>;

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
export const COMMAND = { type: "command" } as const;
/** Percent of a scale of so many levels. */
export const percentOf = (levels: number): NumberCapability =>
  levels >= 1 && levels < 100 ? { ...PERCENT, step: 100 / levels } : PERCENT;
/** A number of percent that is only reported. */
export const PERCENT_READING = { type: "number", unit: "%", readOnly: true } as const;

/** One of some texts, which is only reported. */
export const reported = (values: readonly string[]): Capability => ({
  type: "choice",
  values: [...values],
  readOnly: true,
});

/** The conversion for the unit of a component. For an unknown unit, it has no unit and leaves values as they are. */
export const unitOf = (options: Options, name = "unit_of_measurement"): UnitConversion =>
  toCanonicalUnit(options.text(name, ""));

/** A number capability of a unit, with the bounds that there are. */
export function numberOf(
  { unit }: UnitConversion,
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

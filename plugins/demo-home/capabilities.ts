import type { Capability, Unit } from "@mantel/plugin-sdk";

export const SWITCH = { type: "boolean" } as const;
export const BINARY_SENSOR = { type: "boolean", readOnly: true } as const;
export const COMMAND = { type: "command" } as const;
export const COLOR = { type: "color" } as const;
export const TEXT = { type: "text", readOnly: true } as const;

/** A percentage that can be set. Decimals are allowed: the step is a hint for sliders. */
export const PERCENT = { type: "number", min: 0, max: 100, step: 1, unit: "%" } as const;
export const WHITE = { type: "number", min: 2200, max: 6500, step: 50, unit: "K" } as const;
export const TARGET = { type: "number", min: 5, max: 30, step: 0.5, unit: "°C" } as const;

export function choice(...values: string[]) {
  return { type: "choice", values } satisfies Capability;
}

/** The present action of a device. */
export function action(...values: string[]) {
  return { ...choice(...values), readOnly: true } satisfies Capability;
}

/** A measured value, shown in whole steps. */
export function reading(unit: Unit, step: number) {
  return { type: "number", unit, step, readOnly: true } satisfies Capability;
}

import type { Capability, Color, DeviceState, StateValue } from "@mantel/plugin-sdk";

/**
 * A value as a capability takes it. What a device reports beyond the bounds that it announced, or of
 * another type, counts as not known: a state that the host refuses would take the rest with it.
 */
export function coerce(capability: Capability, value: StateValue): StateValue {
  if (capability.type === "text" && typeof value === "string") return value.slice(0, 1_000);
  return fits(capability, value) ? value : null;
}

function fits(capability: Capability, value: StateValue): boolean {
  switch (capability.type) {
    case "number":
      return isWithin(capability, value);
    case "choice":
      return capability.values.some((each) => each === value);
    case "boolean":
      return typeof value === "boolean";
    case "color":
      return typeof value === "object";
    case "text":
    case "command":
      return false;
  }
}

function isWithin(
  { min = -Infinity, max = Infinity }: { readonly min?: number; readonly max?: number },
  value: StateValue,
): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= min && value <= max;
}

/** Tolerance of a reported number, for devices with coarse steps. */
const TOLERANCE: Readonly<Record<string, number>> = { "%": 0.6, K: 30, "°C": 0.3 };
const COLOR_TOLERANCE = 6;

/** True when a device reports what was asked of it, as nearly as devices do. */
export function isConfirmed(
  capability: Capability,
  asked: StateValue,
  told: StateValue | undefined,
): boolean {
  if (capability.type === "number") return isNear(capability, Number(asked), told);
  const [a, b] = [asked, told ?? null];
  return isColor(a) && isColor(b) ? isAlike(a, b) : a === b;
}

const EXACT = 0.005;
const EXACT_COLOR = 0.5;

/** True when a value is what was asked of it, and not merely close. */
export function isExactly(
  capability: Capability,
  asked: StateValue,
  told: StateValue | undefined,
): boolean {
  if (typeof asked === "number" && typeof told === "number") {
    const step = capability.type === "number" ? (capability.step ?? Infinity) : Infinity;
    return Math.abs(asked - told) <= Math.min(EXACT, step / 2);
  }
  const [a, b] = [asked, told ?? null];
  if (!isColor(a) || !isColor(b)) return a === b;
  return (
    Math.abs(a.hue - b.hue) <= EXACT_COLOR && Math.abs(a.saturation - b.saturation) <= EXACT_COLOR
  );
}

function isNear(
  { step = 0, unit = "" }: { readonly step?: number; readonly unit?: string },
  asked: number,
  told: StateValue | undefined,
): boolean {
  const tolerance = Math.max(step / 2, TOLERANCE[unit] ?? 1e-6);
  return typeof told === "number" && Math.abs(asked - told) <= tolerance;
}

const isColor = (value: StateValue): value is Color => typeof value === "object" && value !== null;

/** With hardly any saturation, the hue is meaningless. */
function isAlike(a: Color, b: Color): boolean {
  const turn = Math.abs(a.hue - b.hue) % 360;
  const isNearHue = Math.min(turn, 360 - turn) <= COLOR_TOLERANCE || a.saturation < COLOR_TOLERANCE;
  return isNearHue && Math.abs(a.saturation - b.saturation) <= COLOR_TOLERANCE;
}

/** The fields of a state that have changed. */
export function changed(before: DeviceState, told: DeviceState): DeviceState {
  const entries = Object.entries(told).filter(([name, value]) => !isSame(before[name], value));
  return Object.fromEntries(entries);
}

function isSame(a: StateValue | undefined, b: StateValue): boolean {
  if (a === undefined || !isColor(a) || !isColor(b)) return a === b;
  return a.hue === b.hue && a.saturation === b.saturation;
}

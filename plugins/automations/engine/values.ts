import type { StateValue } from "@mantel/plugin-sdk";
import type { EngineDevice } from "./automation.ts";

/** The value of a field: `on`, `parts/light/on`, `extra/childLock`, or `available`; `undefined` without one. */
export function valueOf(device: EngineDevice | undefined, field: string): StateValue | undefined {
  if (!device) return undefined;
  const [first = "", second, third] = field.split("/");
  if (second === undefined) {
    const value = own(device.state, first);
    return value === undefined && first === "available" ? device.available : value;
  }
  if (first === "extra") return own(device.extra?.state, second);
  const part = first === "parts" ? device.parts?.find(({ id }) => id === second) : undefined;
  return own(part?.state, third ?? "");
}

function own(
  state: Readonly<Record<string, StateValue>> | undefined,
  name: string,
): StateValue | undefined {
  return state && Object.hasOwn(state, name) ? state[name] : undefined;
}

/** True for two equal values of plain data. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [first, second] = [Object.entries(a), new Map<string, unknown>(Object.entries(b))];
  return (
    first.length === second.size &&
    first.every(([key, value]) => second.has(key) && isSame(value, second.get(key)))
  );
}

/** True for a number above and below limits; `undefined` for other values. */
export function isWithin(
  value: unknown,
  { above = -Infinity, below = Infinity }: { readonly above?: number; readonly below?: number },
): boolean | undefined {
  return typeof value === "number" ? value > above && value < below : undefined;
}

/** The device with another value of a field. */
export function withValue(device: EngineDevice, field: string, value: StateValue): EngineDevice {
  const [first = "", second, third] = field.split("/");
  if (second === undefined) {
    if (first === "available" && typeof value === "boolean") return { ...device, available: value };
    return { ...device, state: { ...device.state, [first]: value } };
  }
  if (first === "extra") {
    return { ...device, extra: { state: { ...device.extra?.state, [second]: value } } };
  }
  const parts = (device.parts ?? []).map((part) =>
    part.id === second ? { ...part, state: { ...part.state, [third ?? ""]: value } } : part,
  );
  return { ...device, parts };
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

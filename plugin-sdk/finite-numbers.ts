import type { Fault } from "./errors.ts";
import { pointerToken } from "./validation-errors.ts";

/** The levels of a part down to a number, such as the hue in its state. */
const DEPTH = 4;

/**
 * The faults of numbers in the states of a device or an update that JSON would silently turn into null: NaN and
 * Infinity. The host refuses null elsewhere.
 */
export function faultsOfNumbers(device: unknown): Fault[] {
  const faults: Fault[] = [];
  const { state, parts, extra } = (device ?? {}) as Readonly<Record<string, unknown>>;
  addFaults(faults, state, "/state", DEPTH);
  addFaults(faults, parts, "/parts", DEPTH);
  addFaults(faults, extra, "/extra", DEPTH);
  return faults;
}

function addFaults(faults: Fault[], value: unknown, pointer: string, depth: number): void {
  if (typeof value !== "object" || value === null || depth === 0) return;
  for (const key in value) {
    const part = (value as Record<string, unknown>)[key];
    const isPlain = typeof part === "number" ? Number.isFinite(part) : typeof part !== "object";
    if (isPlain || part === null) continue; // the usual case, thousands of times for each list
    const place = `${pointer}/${pointerToken(key)}`;
    if (typeof part !== "number") addFaults(faults, part, place, depth - 1);
    else faults.push({ pointer: place, detail: `is ${part}; use null for an unknown number` });
  }
}

import type { Readings } from "@mantel/plugin-sdk/ui/readings";
import { atMoments } from "@mantel/plugin-sdk/ui/sparkline";
import type { Device } from "@mantel/plugin-sdk/widget";
import type { Line } from "./chart.ts";

const HUES = ["heat", "cool", "ok", "media", "info", "energy"] as const;
/** The host stores one reading per five minutes. */
const STEP_MS = 5 * 60_000;
const HOUR_MS = 3_600_000;

/** The moments of a chart, oldest first, in epoch milliseconds. */
export interface Window {
  readonly to: number;
  readonly stepMs: number;
  readonly count: number;
  readonly moments: readonly number[];
}

/** The last hours in steps of five minutes. */
export function momentsOf(now: number, hours: number): Window {
  const to = Math.floor(now / STEP_MS) * STEP_MS;
  const count = (hours * HOUR_MS) / STEP_MS + 1;
  const moments = Array.from({ length: count }, (_, index) => to - (count - 1 - index) * STEP_MS);
  return { to, stepMs: STEP_MS, count, moments };
}

/** A line for each device, with a value or null at each moment. */
export function linesOf(
  devices: readonly Device[],
  readings: readonly Readings[],
  { field, window }: { readonly field: string; readonly window: Window },
): Line[] {
  return devices.map(({ id, name, capabilities }, index) => {
    const capability = capabilities[field];
    return {
      device: id,
      name,
      hue: HUES[index % HUES.length] ?? "info",
      capability: capability?.type === "number" ? capability : {},
      values: atMoments(readings[index]?.values ?? [], window),
    };
  });
}

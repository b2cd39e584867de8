import type { Reading } from "./reading.ts";

/** Energy used in one hour, in kWh; `undefined` without measurements. */
export type HourlyUse = number | undefined;

interface Day {
  /** True for a counter of kWh, false for power in W. */
  readonly counts: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly timeZone: string;
}

/** Longer gaps between readings are ignored. */
const LONGEST_GAP_MS = 3_600_000;
const WATT_MS_PER_KWH = 3_600_000 * 1_000;

/**
 * Energy used in each of today's 24 hours in local time. When the clock is set back, the repeated
 * hour contains the use of both.
 */
export function hoursOfToday(readings: readonly Reading[], day: Day): HourlyUse[] {
  const { now, timeZone } = day;
  const dates = new Intl.DateTimeFormat("en-CA", { timeZone });
  const today = dates.format(now);
  const hours: HourlyUse[] = Array.from({ length: 24 }, () => undefined);
  readings.forEach((reading, index) => {
    const before = readings[index - 1];
    if (!before || dates.format(reading.at) !== today) return;
    const hour = hourOf(reading.at, day);
    hours[hour] = (hours[hour] ?? 0) + usedBetween(before, reading, day);
  });
  return hours;
}

/** A counter that decreases has been replaced or reset, so that step is ignored. */
function usedBetween(before: Reading, after: Reading, { counts }: Day): number {
  if (counts) return Math.max(0, after.value - before.value);
  const ms = after.at - before.at;
  return ms > LONGEST_GAP_MS ? 0 : (Math.max(0, before.value) * ms) / WATT_MS_PER_KWH;
}

/** The local hour of the day, 0 to 23. */
export function hourOf(at: number, { timeZone }: { readonly timeZone: string }): number {
  const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", hourCycle: "h23", timeZone });
  return Number(hour.format(at));
}

/** The sum of the known values, or `undefined` if there are none. */
export function sumOf(hours: readonly HourlyUse[]): HourlyUse {
  const known = hours.filter((use) => use !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, use) => sum + use, 0);
}

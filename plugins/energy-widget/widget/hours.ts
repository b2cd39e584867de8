import type { Reading } from "@mantel/plugin-sdk/ui/reading";

/** What was used in one hour, in kWh; `undefined` when nothing was measured in it. */
export type Use = number | undefined;

interface Day {
  /** True for a counter of kWh, false for power in W. */
  readonly counts: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly timeZone: string;
}

/** A sensor that was silent for longer says nothing about the time between. */
const LONGEST_GAP_MS = 3_600_000;
const WATT_MS_PER_KWH = 3_600_000 * 1_000;

/**
 * What was used in each of today's 24 hours on the clock of the house. Where a clock is set back, the
 * hour that comes twice has the use of both.
 */
export function hoursOfToday(readings: readonly Reading[], day: Day): Use[] {
  const { now, timeZone } = day;
  const dates = new Intl.DateTimeFormat("en-CA", { timeZone });
  const today = dates.format(now);
  const hours: Use[] = Array.from({ length: 24 }, () => undefined);
  readings.forEach((reading, index) => {
    const before = readings[index - 1];
    if (!before || dates.format(reading.at) !== today) return;
    const hour = hourOf(reading.at, day);
    hours[hour] = (hours[hour] ?? 0) + usedBetween(before, reading, day);
  });
  return hours;
}

/** A counter that goes back has been replaced or has started over: that step says nothing. */
function usedBetween(before: Reading, after: Reading, { counts }: Day): number {
  if (counts) return Math.max(0, after.value - before.value);
  const ms = after.at - before.at;
  return ms > LONGEST_GAP_MS ? 0 : (Math.max(0, before.value) * ms) / WATT_MS_PER_KWH;
}

/** The hour of the day, 0 to 23, on the clock of the house. */
export function hourOf(at: number, { timeZone }: { readonly timeZone: string }): number {
  const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", hourCycle: "h23", timeZone });
  return Number(hour.format(at));
}

/** The sum of what is known, or `undefined` when nothing is. */
export function sumOf(hours: readonly Use[]): Use {
  const known = hours.filter((use) => use !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, use) => sum + use, 0);
}

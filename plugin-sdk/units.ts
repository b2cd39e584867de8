/**
 * Converts a level from 0 to `max` (at least 1) to percent. Each level has its own percent value, and a whole
 * percent survives the round trip through `toLevel`, so repeated conversions do not drift. A level outside the
 * range gives a percent outside 0 to 100.
 */
export function toPercent(level: number, max: number): number {
  const exact = (level / max) * 100;
  const whole = Math.round(exact);
  return toLevel(whole, max) === level ? whole : Number(exact.toFixed(decimalsFor(max)));
}

/** Converts percent to a whole level from 0 to `max`. A percent above 0 never becomes 0, which would turn a light off. */
export function toLevel(percent: number, max: number): number {
  return percent > 0 ? Math.max(1, Math.round((percent / 100) * max)) : 0;
}

/** Converts a colour temperature from mired to whole kelvin. Values below 1 mired count as 1. */
export const toKelvin = (mired: number): number => Math.round(1e6 / Math.max(1, mired));

/** Converts a colour temperature from kelvin to whole mired. The formula is the same in both directions. */
export const toMired = (kelvin: number): number => toKelvin(kelvin);

/** The number of decimals that distinguishes neighbouring levels. */
function decimalsFor(max: number): number {
  return Math.max(0, Math.floor(Math.log10(max)) - 1);
}

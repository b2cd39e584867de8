/**
 * A level of 0 to `max`, which is at least 1, as percent. A whole percent that was written comes back as
 * itself, and each level has a percent of its own, so values do not drift however often they go around. A level outside is a percent outside.
 */
export function toPercent(level: number, max: number): number {
  const exact = (level / max) * 100;
  const whole = Math.round(exact);
  return toLevel(whole, max) === level ? whole : Number(exact.toFixed(decimalsFor(max)));
}

/** A percent as a whole level of 0 to `max`; above 0 it never becomes 0, which would turn a light off. */
export function toLevel(percent: number, max: number): number {
  return percent > 0 ? Math.max(1, Math.round((percent / 100) * max)) : 0;
}

/** Colour temperature in mired as whole kelvin. What is below 1 mired, and so no white, counts as 1. */
export const toKelvin = (mired: number): number => Math.round(1e6 / Math.max(1, mired));

/** Colour temperature in kelvin as whole mired: one is the reciprocal of the other. */
export const toMired = (kelvin: number): number => toKelvin(kelvin);

/** As many as tell neighbouring levels apart. */
function decimalsFor(max: number): number {
  return Math.max(0, Math.floor(Math.log10(max)) - 1);
}

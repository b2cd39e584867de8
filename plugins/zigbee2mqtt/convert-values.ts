/**
 * A level of 0 to `max` as percent. A whole percent that is written comes back as itself, and each level
 * has a percent of its own, so values do not drift however often they go around.
 */
export function toPercent(level: number, max: number): number {
  const whole = Math.round((level / max) * 100);
  return toLevel(whole, max) === level ? whole : rounded((level / max) * 100, max > 500 ? 3 : 1);
}

/** A percent as a level of 0 to `max`; above 0 it never becomes 0, which would turn the light off. */
export function toLevel(percent: number, max: number): number {
  const level = Math.round((percent / 100) * max);
  return percent > 0 ? Math.max(1, level) : 0;
}

/** Colour temperature: mired to kelvin, and back. */
export const reciprocal = (value: number): number => Math.round(1e6 / value);

/** Without the dust of binary fractions. */
export function rounded(value: number, digits: number): number {
  const factor = 10 ** digits;
  return Math.round(value * factor) / factor;
}

/** The least that a chart's height stands for, in the values' unit: calm figures look calm. */
const LEAST_SPAN = 20;
/** A history shorter than this leaves the left side empty, so that two values are no trend. */
const LEAST_VALUES = 12;
const TOP = 8;
const BOTTOM = 92;

/**
 * Values as SVG paths in a square of 100, the newest at the right: the line, and the area below it.
 * A value that is null leaves its place out. Fewer than two values draw nothing.
 */
export function sparkline(
  values: readonly (number | null)[],
  ceiling: number,
): { line: string; area: string } {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return { line: "", area: "" };
  const low = Math.max(0, Math.min(...known) - LEAST_SPAN / 4);
  const high = Math.min(ceiling, Math.max(...known, low + LEAST_SPAN));
  const step = 100 / (Math.max(known.length, LEAST_VALUES) - 1);
  const left = 100 - step * (known.length - 1);
  const points = known.map((value, index) => {
    const y = BOTTOM - ((value - low) / (high - low)) * (BOTTOM - TOP);
    return `${round(left + index * step)} ${round(y)}`;
  });
  const line = `M${points.join("L")}`;
  return { line, area: `${line}V100H${round(left)}Z` };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

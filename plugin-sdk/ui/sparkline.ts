import { html, nothing, svg, type TemplateResult } from "lit";
import type { Reading } from "./reading.ts";

/** Minimum width in values. A shorter history leaves the left side empty, so that two values do not look like a trend. */
const LEAST_VALUES = 12;
const TOP = 8;
const BOTTOM = 92;

/** The scale of a line, in the unit of the values. */
export interface Scale {
  /** The minimum range of the vertical axis, so that small changes look small. */
  readonly span: number;
  /** The lowest possible value. */
  readonly floor?: number;
  readonly ceiling?: number;
}

/**
 * Renders values as a line with an area below it, the newest at the end. Needs `card.css`. Fewer than two values
 * render nothing. Hidden from screen readers, because the figure beside it is readable.
 */
export function sparkline(values: readonly (number | null)[], scale: Scale): unknown {
  const { line, area } = sparklinePaths(values, scale);
  return line === "" ? nothing : chart(line, area);
}

function chart(line: string, area: string): TemplateResult {
  return html`<svg
    class="spark"
    viewBox="0 0 100 100"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${svg`<path class="area" d=${area}></path><path class="line" d=${line}></path>`}
  </svg>`;
}

/** The line and the area below it in a square of 100. A value that is null leaves its place out. */
export function sparklinePaths(
  values: readonly (number | null)[],
  { span, floor = -Infinity, ceiling = Infinity }: Scale,
): { line: string; area: string } {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return { line: "", area: "" };
  const low = Math.max(floor, Math.min(...known) - span / 4);
  const high = Math.max(Math.min(ceiling, Math.max(...known, low + span)), low + span / 100);
  const step = 100 / (Math.max(known.length, LEAST_VALUES) - 1);
  const left = 100 - step * (known.length - 1);
  const points = known.map((value, index) => {
    const y = BOTTOM - ((value - low) / (high - low)) * (BOTTOM - TOP);
    return `${round(left + index * step)} ${round(y)}`;
  });
  const line = `M${points.join("L")}`;
  return { line, area: `${line}V100H${round(left)}Z` };
}

/** Readings at `count` moments that end at `to`, `stepMs` apart: each holds until the next. */
export function atMoments(
  readings: readonly Reading[],
  { to, stepMs, count }: { readonly to: number; readonly stepMs: number; readonly count: number },
): (number | null)[] {
  let next = 0;
  let value: number | null = null;
  return Array.from({ length: count }, (_, index) => {
    const moment = to - (count - 1 - index) * stepMs;
    for (; next < readings.length && (readings[next]?.at ?? 0) <= moment; next++) {
      value = readings[next]?.value ?? null;
    }
    return value;
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

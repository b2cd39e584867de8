import type { Reading } from "@mantel/plugin-sdk/ui/reading";

/** Heights of the highest and the lowest value, in percent. */
const TOP = 6;
const BOTTOM = 94;

/** A reading, or the mean of several with their limits. `NaN` while the value was unknown. */
export interface HistoryPoint extends Reading {
  readonly min?: number;
  readonly max?: number;
}

/** The time that a chart shows: its begin in epoch milliseconds, and its length. */
export interface TimeRange {
  readonly from: number;
  readonly ms: number;
}

type Scale = (value: number) => number;

/** The heights of values in percent of a chart that holds all of the readings, and at least a span of values. */
export function heightsOf(readings: readonly HistoryPoint[], span: number): Scale {
  const known = readings.filter(({ value }) => !Number.isNaN(value));
  const values = known.flatMap(({ value, min = value, max = value }) => [min, max]);
  const middle = values.length === 0 ? 0 : (Math.min(...values) + Math.max(...values)) / 2;
  const half = Math.max(span / 2, ...values.map((value) => Math.abs(value - middle)));
  return (value) => round(BOTTOM - ((value - middle + half) / (2 * half)) * (BOTTOM - TOP));
}

/**
 * The paths of the chart in a square of 100, with gaps where the value was unknown. `band` lies between the limits of
 * points that have some.
 */
export function pathsOf(
  readings: readonly HistoryPoint[],
  { from, ms }: TimeRange,
  yOf: Scale,
): { line: string; area: string; band: string } {
  const xOf = (at: number): number => round(Math.max(0, ((at - from) / ms) * 100));
  const paths = segmentsOf(readings).map(({ points, until }) => {
    const [first] = points;
    const last = xOf(points.at(-1)?.at ?? from);
    const end = until === undefined ? Math.max(100, last) : xOf(until);
    const line = `M${points.map(({ at, value }) => `${xOf(at)} ${yOf(value)}`).join("L")}H${end}`;
    return { line, area: `${line}V100H${xOf(first?.at ?? from)}Z`, band: bandOf(points, xOf, yOf) };
  });
  const joined = (key: "line" | "area" | "band"): string => paths.map((path) => path[key]).join("");
  return { line: joined("line"), area: joined("area"), band: joined("band") };
}

function bandOf(points: readonly HistoryPoint[], xOf: Scale, yOf: Scale): string {
  if (points.every(({ min }) => min === undefined)) return "";
  const upper = points.map(({ at, value, max = value }) => `${xOf(at)} ${yOf(max)}`);
  const lower = points.map(({ at, value, min = value }) => `${xOf(at)} ${yOf(min)}`);
  return `M${[...upper, ...lower.toReversed()].join("L")}Z`;
}

/** The stretches with known values, each with the instant at which the value became unknown. */
function segmentsOf(
  readings: readonly HistoryPoint[],
): readonly { readonly points: readonly HistoryPoint[]; readonly until: number | undefined }[] {
  const segments: { points: HistoryPoint[]; until: number | undefined }[] = [];
  let isOpen = false;
  for (const reading of readings) {
    const last = segments.at(-1);
    if (Number.isNaN(reading.value)) {
      if (last && isOpen) last.until = reading.at;
      isOpen = false;
    } else if (last && isOpen) last.points.push(reading);
    else {
      segments.push({ points: [reading], until: undefined });
      isOpen = true;
    }
  }
  return segments;
}

/** The reading that holds at an instant; the first one before it. */
export function readingAt(readings: readonly HistoryPoint[], at: number): HistoryPoint | undefined {
  return readings.findLast((reading) => reading.at <= at) ?? readings[0];
}

/** The readings within a range, with the one that holds at its begin and the first one after its end. */
export function readingsIn(
  readings: readonly HistoryPoint[],
  { from, ms }: TimeRange,
): readonly HistoryPoint[] {
  const first = readings.findLastIndex(({ at }) => at <= from);
  const after = readings.findIndex(({ at }) => at > from + ms);
  const within = readings.slice(Math.max(0, first), after < 0 ? undefined : after + 1);
  return within.map((reading) => (reading.at < from ? { ...reading, at: from } : reading));
}

const round = (value: number): number => Math.round(value * 100) / 100;

import type { CurveAnswer, Point } from "./history.ts";
import type { Curve } from "./points.ts";
import { Figures, overlapMs, type Stat } from "./statistics.ts";

/** The figures of a value that is held for a span; nothing while it is unknown. */
export function heldStat(value: number, from: number, to: number): Stat[] {
  if (Number.isNaN(value) || to <= from) return [];
  return [{ from, to, min: value, max: value, mean: value, sum: 0, knownMs: to - from }];
}

/** Each report of a curve as a span until the next one. Those before `from` count with their last one. */
export function spansOf({ at, value }: Curve, from: number, to: number): Stat[] {
  return at.flatMap((instant, index) => {
    const until = Math.min(at[index + 1] ?? to, to);
    return heldStat(value[index] ?? NaN, Math.max(instant, from), until);
  });
}

/** At most so many points of spans that follow each other. Gaps between spans become one point with `null`. */
export function pointsOf(
  spans: readonly Stat[],
  {
    from,
    to,
    points: most,
  }: { readonly from: number; readonly to: number; readonly points: number },
): Point[] {
  const joined = spans.length <= most ? withGaps(spans, from, to) : undefined;
  if (joined && joined.length <= most) return joined;
  const bucketMs = (to - from) / most;
  const buckets = Array.from({ length: most }, () => new Figures());
  for (const span of spans) {
    const first = Math.max(0, Math.floor((span.from - from) / bucketMs));
    const last = Math.min(most - 1, Math.floor((span.to - from) / bucketMs));
    for (let index = first; index <= last; index++) {
      const start = from + index * bucketMs;
      const part = overlapMs(span, start, start + bucketMs);
      if (part > 0) buckets[index]?.include(span, part);
    }
  }
  return buckets.map((figures, index) => {
    const at = Math.round(from + index * bucketMs);
    if (!figures.isKnown) return { at, value: null };
    const { mean, min, max } = figures.stat(at, at + bucketMs);
    return { at, value: mean, min, max };
  });
}

function withGaps(spans: readonly Stat[], from: number, to: number): Point[] {
  const points: Point[] = [];
  let until = from;
  for (const { from: start, to: end, min, mean, max } of spans) {
    if (start > until && points.length > 0) points.push({ at: until, value: null });
    const isExact = min === max;
    points.push(isExact ? { at: start, value: mean } : { at: start, value: mean, min, max });
    until = end;
  }
  if (until < to && points.length > 0) points.push({ at: until, value: null });
  return points.filter(({ value, ...rest }, index) => {
    const before = points[index - 1];
    return index === 0 || "min" in rest || before?.value !== value || "min" in (before ?? {});
  });
}

/** The resolution for spans of this length: reports up to five minutes a point, figures of an hour from an hour. */
export function resolutionFor(pointMs: number): CurveAnswer["resolution"] {
  if (pointMs < 5 * 60_000) return "raw";
  return pointMs < 60 * 60_000 ? "5m" : "1h";
}

/** The part of figures within a span, as if they were spread evenly. */
export function clipped(stat: Stat, from: number, to: number): Stat[] {
  if (stat.from >= from && stat.to <= to) return [stat];
  const part = overlapMs(stat, from, to);
  if (part === 0) return [];
  const share = part / (stat.to - stat.from);
  return [
    {
      ...stat,
      from: Math.max(stat.from, from),
      to: Math.min(stat.to, to),
      sum: stat.sum * share,
      knownMs: stat.knownMs * share,
    },
  ];
}

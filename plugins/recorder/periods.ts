import type { StatisticsQuery } from "@mantel/plugin-sdk";
import { instantOf, offsetAt, wallClock } from "@mantel/plugin-sdk/time";

type Period = NonNullable<StatisticsQuery["period"]>;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The begins of the periods from that with `from` to the one before `to`, and the end of the last one, in epoch
 * milliseconds. At most `most` periods.
 */
export function boundsOf(
  period: Period,
  { from, to }: { readonly from: number; readonly to: number },
  { timeZone, most }: { readonly timeZone: string; readonly most: number },
): number[] {
  const at = (index: number): number => {
    if (period === "hour") return startOfHour(from, timeZone) + index * HOUR_MS;
    return instantOf(midnightOf(period, wallClock(from, timeZone), index), timeZone);
  };
  const bounds = [at(0)];
  for (let index = 1; (bounds.at(-1) ?? to) < to && index <= most; index++) bounds.push(at(index));
  return bounds;
}

/** The instant this many periods before another one. */
export function earlier(period: Period, at: number, count: number): number {
  const days = { hour: 1 / 24, day: 1, week: 7, month: 30.44 };
  return at - count * days[period] * DAY_MS;
}

/** The local midnight at which a period begins, which is a number of periods after the one with a local time. */
function midnightOf(period: Period, wall: number, index: number): number {
  const local = new Date(wall);
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  if (period === "month") return Date.UTC(year, month + index, 1);
  if (period === "day") return Date.UTC(year, month, day + index);
  const sinceMonday = (local.getUTCDay() + 6) % 7;
  return Date.UTC(year, month, day - sinceMonday + 7 * index);
}

function startOfHour(at: number, timeZone: string): number {
  const offset = offsetAt(at, timeZone);
  return Math.floor((at + offset) / HOUR_MS) * HOUR_MS - offset;
}

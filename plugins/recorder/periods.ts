import type { StatisticsQuery } from "@mantel/plugin-sdk";

type Period = NonNullable<StatisticsQuery["period"]>;
/** A local date; day and month may be out of their ranges. */
interface LocalDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const formats = new Map<string, Intl.DateTimeFormat>();

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
    return instantOf(dayOf(period, from, timeZone, index), timeZone);
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

function dayOf(period: Period, from: number, timeZone: string, index: number): LocalDay {
  const local = new Date(from + offsetMs(from, timeZone));
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  if (period === "month") return { year, month: month + index, day: 1 };
  if (period === "day") return { year, month, day: day + index };
  const sinceMonday = (local.getUTCDay() + 6) % 7;
  return { year, month, day: day - sinceMonday + 7 * index };
}

/** The begin of a local day, also if clocks change in that night. */
function instantOf({ year, month, day }: LocalDay, timeZone: string): number {
  const local = Date.UTC(year, month, day);
  const guess = local - offsetMs(local, timeZone);
  const exact = local - offsetMs(guess, timeZone);
  // Where clocks go forward at midnight, the day begins an hour later.
  return exact + offsetMs(exact, timeZone) < local ? guess : exact;
}

function startOfHour(at: number, timeZone: string): number {
  const offset = offsetMs(at, timeZone);
  return Math.floor((at + offset) / HOUR_MS) * HOUR_MS - offset;
}

/** Milliseconds that clocks of a zone are ahead of UTC. */
function offsetMs(at: number, timeZone: string): number {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  formats.set(timeZone, format);
  const parts = new Map(
    format.formatToParts(at).map(({ type, value }) => [type, Number(value)] as const),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const local = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return local - Math.floor(at / 1_000) * 1_000;
}

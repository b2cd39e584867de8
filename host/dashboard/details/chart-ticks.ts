import type { I18n } from "@mantel/plugin-sdk/i18n";
import { currentLocale } from "../i18n/language.ts";
import type { TimeRange } from "./chart-paths.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Steps of an axis of time; each one above an hour divides the day, or is whole days. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 4, 8, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 5, 10, 15, 30, 60, 90].map((days) => days * DAY_MS),
];
const MOST_TICKS = 7;

/** The labels below a chart with their places from 0 to 1. Those near its ends are left out. */
export function ticksOf(
  { from, ms }: TimeRange,
  { fmt }: Pick<I18n, "fmt">,
): readonly { readonly share: number; readonly text: string }[] {
  const stepMs = STEPS_MS.find((step) => ms / step <= MOST_TICKS) ?? 90 * DAY_MS;
  const weekday = new Intl.DateTimeFormat(currentLocale.value, { weekday: "short" });
  const textOf = (at: number): string => {
    if (stepMs > DAY_MS) return fmt.date(at, "short");
    const isDay = stepMs === DAY_MS || (ms > DAY_MS && at === midnightBefore(at));
    return isDay ? weekday.format(at) : fmt.time(at);
  };
  return instants({ from, ms }, stepMs)
    .filter((at) => at - from > ms / 50 && from + ms - at > ms / 28)
    .map((at) => ({ share: (at - from) / ms, text: textOf(at) }));
}

/** The instants of a range that are whole steps after a midnight of this screen. */
function instants({ from, ms }: TimeRange, stepMs: number): readonly number[] {
  const midnight = midnightBefore(from);
  if (stepMs < DAY_MS) {
    const first = midnight + Math.ceil((from - midnight) / stepMs) * stepMs;
    return Array.from({ length: Math.ceil(ms / stepMs) }, (_, index) => first + index * stepMs);
  }
  const days = stepMs / DAY_MS;
  const local = new Date(midnight);
  return Array.from({ length: Math.ceil(ms / stepMs) }, (_, index) =>
    new Date(midnight).setDate(local.getDate() + 1 + index * days),
  );
}

function midnightBefore(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

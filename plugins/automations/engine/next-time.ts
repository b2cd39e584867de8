import { nextCronTime, nextSunEvent } from "@mantel/plugin-sdk/time";
import type { EngineHome } from "./automation.ts";
import type { TriggerOf, Weekday } from "./document.ts";
import { instantOf, plusDays, secondsOf, wallTimeAt, weekdayOf } from "./zone.ts";

/** The sun rises at most once in this time. */
const SUN_APART_MS = 60 * 60 * 1_000;

export type TimeTrigger = TriggerOf<"time"> | TriggerOf<"cron"> | TriggerOf<"sun">;

/**
 * The first time of a trigger after an instant; `undefined` if it never fires again. A time of day that a change to daylight
 * saving time skips is right after the change, and one that occurs twice counts once.
 * @param isAfterTime true if the trigger fired at the instant
 */
export function nextTime(
  trigger: TimeTrigger,
  after: number,
  { timeZone, coordinates }: Pick<EngineHome, "timeZone" | "coordinates">,
  isAfterTime = false,
): number | undefined {
  switch (trigger.type) {
    case "time":
      return nextTimeOfDay(trigger, after, timeZone);
    case "cron":
      return nextCronTime(trigger.expression, after, timeZone);
    case "sun": {
      if (!coordinates) return undefined;
      const { event, offsetMs = 0 } = trigger;
      const from = after - offsetMs + (isAfterTime ? SUN_APART_MS : 0);
      const next = nextSunEvent(event, new Date(from), coordinates);
      return next && next.getTime() + offsetMs;
    }
  }
}

function nextTimeOfDay(
  { at, days }: { readonly at: string; readonly days?: readonly Weekday[] },
  after: number,
  timeZone: string,
): number | undefined {
  const today = wallTimeAt(after, timeZone);
  for (let later = 0; later <= 8; later++) {
    const day = plusDays(today, later);
    if (days && !days.includes(weekdayOf(day))) continue;
    const instant = instantOf(day, secondsOf(at), timeZone);
    if (instant > after) return instant;
  }
  return undefined;
}

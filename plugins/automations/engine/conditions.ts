import { sunAt } from "@mantel/plugin-sdk/time";
import type {
  EngineCalendarEvent,
  EngineDevice,
  EngineHome,
  TracedCondition,
} from "./automation.ts";
import type { Condition, SimpleConditionOf } from "./document.ts";
import { isSame, isWithin, valueOf } from "./values.ts";
import { plusDays, secondsOf, type WallTime, wallTimeAt, weekdayOf } from "./zone.ts";

/** The home as conditions see it. */
export interface Surroundings {
  readonly now: number;
  readonly home: Pick<EngineHome, "timeZone" | "coordinates">;
  readonly device: (id: string) => EngineDevice | undefined;
  /** `undefined` if no tracker knows. */
  readonly isAnyoneHome: () => boolean | undefined;
  readonly calendarEvents: () => readonly EngineCalendarEvent[];
  /** `undefined` if it was never set. */
  readonly variable: (name: string) => unknown;
}

/** The result of one condition with the value that it saw. What is unknown is not met. */
type Checked = Pick<TracedCondition, "result" | "value">;

/** Checks all conditions, also after one that is not met. */
export function checkAll(
  conditions: readonly Condition[],
  around: Surroundings,
): { readonly isMet: boolean; readonly traced: TracedCondition[] } {
  const traced = conditions.map((condition, index) => ({ index, ...check(condition, around) }));
  return { isMet: traced.every(({ result }) => result), traced };
}

function check(condition: Condition, around: Surroundings): Checked {
  switch (condition.type) {
    case "state":
      return checkValue(condition, valueOf(around.device(condition.device), condition.field));
    case "time": {
      const now = wallTimeAt(around.now, around.home.timeZone);
      return { result: isInSpan(condition, now), value: clockText(now.seconds) };
    }
    case "sun": {
      const { coordinates } = around.home;
      if (!coordinates) return { result: false, value: null };
      const { isUp } = sunAt(coordinates, new Date(around.now));
      return { result: isUp === (condition.is === "up"), value: isUp ? "up" : "down" };
    }
    case "presence": {
      const { person, anyone } = condition;
      const isHome =
        person === undefined ? around.isAnyoneHome() : around.device(person)?.state["home"];
      return { result: isHome === anyone, value: isHome ?? null };
    }
    case "variable":
      return checkValue(condition, around.variable(condition.name));
    case "calendar": {
      const { now } = around;
      const current = around
        .calendarEvents()
        .filter((event) => isMeant(condition, event) && event.start <= now && now < event.end);
      return { result: current.length > 0, value: current.slice(0, 10).map(({ title }) => title) };
    }
    default: {
      const { traced } = checkAll(condition.of, around);
      const met = traced.filter(({ result }) => result).length;
      const result = { all: met === traced.length, any: met > 0, none: met === 0 }[condition.type];
      return { result, value: traced };
    }
  }
}

function checkValue(
  { equals, above, below }: Pick<SimpleConditionOf<"state">, "equals" | "above" | "below">,
  value: unknown,
): Checked {
  const limits = { ...(above !== undefined && { above }), ...(below !== undefined && { below }) };
  const isEqual = equals === undefined || isSame(value, equals);
  const isInside = Object.keys(limits).length === 0 || isWithin(value, limits) === true;
  return { result: value !== undefined && isEqual && isInside, value: value ?? null };
}

/** True for an event that a trigger or condition means. */
export function isMeant(
  { calendar, match }: { readonly calendar: string; readonly match?: string },
  event: EngineCalendarEvent,
): boolean {
  if (calendar !== "*" && calendar !== event.calendar) return false;
  return match === undefined || event.title.toLowerCase().includes(match.toLowerCase());
}

function isInSpan({ after, before, days }: SimpleConditionOf<"time">, now: WallTime): boolean {
  const start = after === undefined ? 0 : secondsOf(after);
  const end = before === undefined ? 24 * 3_600 : secondsOf(before);
  const isAcross = start > end || (start === end && after !== undefined);
  const isLate = now.seconds >= start;
  const isEarly = now.seconds < end;
  if (isAcross ? !isLate && !isEarly : !isLate || !isEarly) return false;
  if (!days) return true;
  const began = isAcross && !isLate ? plusDays(now, -1) : now;
  return days.includes(weekdayOf(began));
}

function clockText(seconds: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `${two(seconds / 3_600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
}

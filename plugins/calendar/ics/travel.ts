import { isProperty, parseProperty } from "./content-line.ts";
import { parseDuration } from "./reminders.ts";
import { DAY_MS } from "./zones.ts";

/** The property in which Apple's programs store the time to travel to an event. */
export const TRAVEL = "X-APPLE-TRAVEL-DURATION";

/** The time to travel in milliseconds, at most a day; `undefined` if there is none, or it cannot be read. */
export function travelIn(lines: readonly string[]): number | undefined {
  const [line] = lines.filter(isProperty);
  if (line === undefined) return undefined;
  const duration = parseDuration(String(parseProperty(line).values[0] ?? "").trim());
  const ms = duration && duration.days * DAY_MS + duration.ms;
  return ms !== undefined && ms > 0 && ms <= DAY_MS ? ms : undefined;
}

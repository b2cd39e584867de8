import { MantelError } from "@mantel/plugin-sdk";
import { DAY_MS, toInstant, UTC, type Zone } from "./zones.ts";

/** A date, or a time on the clock of a zone (RFC 5545 DATE and DATE-TIME). */
export interface Moment {
  /** True for a date; its zone means nothing then. */
  readonly allDay: boolean;
  /** What calendar and clock show, as the UTC instant with the same reading. */
  readonly wall: number;
  readonly zone: Zone;
  /** For the end of time that passes, which can be the second of two times that the clock shows alike. */
  readonly instant?: number;
}

/**
 * Reads `2026-11-20`, `2026-11-20T09:00:00` or `2026-11-20T09:00:00Z`, as jCal writes them (RFC 7265).
 * `zone` is where a time without `Z` is meant.
 *
 * @throws MantelError `invalid` for a day or a time that does not exist
 */
export function parseMoment(text: string, zone: Zone): Moment {
  // ical.js reads a date without VALUE=DATE as a time that has no digits
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(Z?)|T::)?$/.exec(text);
  if (match) {
    const [, date = "", time, utc] = match;
    const wall = Date.parse(`${date}T${leapless(time ?? "00:00:00")}Z`);
    if (!Number.isNaN(wall) && new Date(wall).toISOString().startsWith(date)) {
      return { allDay: time === undefined, wall, zone: utc === "Z" ? UTC : zone };
    }
  }
  throw new MantelError("invalid", `${text.slice(0, 40)} is not a date or a time that exists`);
}

/** A leap second, which the clocks of computers do not have, is the second before it. */
const leapless = (time: string) => time.replace(/:60$/, ":59");

/** The instant of a moment; of a date, midnight in UTC. */
export function instantOf({ allDay, wall, zone, instant }: Moment): number {
  return allDay ? wall : (instant ?? toInstant(zone, wall));
}

/** The number of the day since 1970, on the moment's own calendar. */
export function dayOf({ wall }: Moment): number {
  return Math.floor(wall / DAY_MS);
}

import { MantelError, sentence } from "@mantel/plugin-sdk";
import { DAY_MS, toInstant, UTC, type Zone } from "./zones.ts";

/** A date, or a local time in a zone (RFC 5545 DATE and DATE-TIME). */
export interface Moment {
  /** True for a date; its zone is ignored then. */
  readonly allDay: boolean;
  /** The local date and time, as the UTC instant with the same digits. */
  readonly wall: number;
  readonly zone: Zone;
  /**
   * The exact instant for an end computed from elapsed time, because a local time can occur twice.
   */
  readonly instant?: number;
}

/**
 * Parses `2026-11-20`, `2026-11-20T09:00:00` or `2026-11-20T09:00:00Z`, as in jCal (RFC 7265).
 * `zone` applies to a time without `Z`.
 * @throws MantelError `invalid` for a day or a time that does not exist
 */
export function parseMoment(text: string, zone: Zone): Moment {
  // ical.js reads a date without VALUE=DATE as a time without digits
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(Z?)|T::)?$/.exec(text);
  if (match) {
    const [, date = "", time, utc] = match;
    const wall = Date.parse(`${date}T${leapless(time ?? "00:00:00")}Z`);
    if (!Number.isNaN(wall) && new Date(wall).toISOString().startsWith(date)) {
      return { allDay: time === undefined, wall, zone: utc === "Z" ? UTC : zone };
    }
  }
  const values = { text: text.slice(0, 40) };
  throw new MantelError(
    "invalid",
    sentence("no_such_moment", "{text} is not a date or a time that exists", values),
  );
}

/** Computers have no leap seconds, so one becomes the second before it. */
const leapless = (time: string) => time.replace(/:60$/, ":59");

/** The instant of a moment; for a date, midnight in UTC. */
export function instantOf({ allDay, wall, zone, instant }: Moment): number {
  return allDay ? wall : (instant ?? toInstant(zone, wall));
}

/** The number of the local day since 1970. */
export function dayOf({ wall }: Moment): number {
  return Math.floor(wall / DAY_MS);
}

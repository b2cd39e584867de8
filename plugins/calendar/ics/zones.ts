import { findIana } from "windows-iana";

/** Converts local time to instants. Both are in milliseconds. */
export interface Zone {
  /** The IANA name; `UTC` for a zone that only its feed defines. */
  readonly name: string;
  /** The offset added to an instant to get its local time. */
  offsetAt(instant: number): number;
}

/**
 * The instant of a wall-clock time, which is given as the UTC instant with the same reading. A time
 * that a DST change skips counts with the offset before the change, and one that comes twice is the
 * first of both (RFC 5545, 3.3.5).
 */
export function toInstant(zone: Zone, wall: number): number {
  const before = zone.offsetAt(wall - DAY_MS);
  const after = zone.offsetAt(wall + DAY_MS);
  if (before === after || zone.offsetAt(wall - before) === before) return wall - before;
  return zone.offsetAt(wall - after) === after ? wall - after : wall - before;
}

/** The wall-clock time at an instant. */
export function toWall(zone: Zone, instant: number): number {
  return instant + zone.offsetAt(instant);
}

export const DAY_MS = 86_400_000;

export const UTC: Zone = { name: "UTC", offsetAt: () => 0 };

const known = new Map<string, Zone>([
  ["utc", UTC],
  ["z", UTC],
]);

/**
 * The zone that a TZID of a feed means: an IANA name, one behind a prefix such as
 * `/freeassociation.sourceforge.net/Europe/Berlin`, or a Windows name; `undefined` for others.
 */
export function findZone(tzid: string): Zone | undefined {
  const id = tzid.trim().replace(/^"(.*)"$/, "$1");
  const [windows] = findIana(id);
  if (windows !== undefined) return findIanaZone(windows);
  const parts = id.split("/").filter((part) => part !== "");
  for (let from = Math.max(0, parts.length - 3); from < parts.length; from++) {
    const zone = findIanaZone(parts.slice(from).join("/"));
    if (zone) return zone;
  }
  return undefined;
}

function findIanaZone(name: string): Zone | undefined {
  const key = name.toLowerCase();
  const found = known.get(key);
  if (found || !/^[a-z][\w+/-]*$/.test(key)) return found;
  try {
    const zone = new IntlZone(name);
    known.set(key, zone);
    return zone;
  } catch {
    return undefined; // Intl throws a RangeError for a name that it does not know
  }
}

const BUCKET_MS = 7 * DAY_MS;

/** A zone of the IANA database. Offsets are kept by the week, because asking Intl takes microseconds. */
class IntlZone implements Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #weeks = new Map<number, Week>();

  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      timeZoneName: "longOffset",
    });
    this.name = this.#format.resolvedOptions().timeZone;
  }

  offsetAt(instant: number): number {
    const number = Math.floor(instant / BUCKET_MS);
    let week = this.#weeks.get(number);
    if (!week) {
      week = this.#week(number);
      this.#weeks.set(number, week);
    }
    return instant < week.changesAt ? week.before : week.after;
  }

  #week(number: number): Week {
    let low = number * BUCKET_MS;
    let high = low + BUCKET_MS - 1000;
    const before = this.#ask(low);
    const after = this.#ask(high);
    if (before === after) return { before, after, changesAt: high };
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000;
      if (this.#ask(middle) === before) low = middle;
      else high = middle;
    }
    return { before, after, changesAt: high };
  }

  #ask(instant: number): number {
    const parts = this.#format.formatToParts(instant);
    const text = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
    const match = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text);
    if (!match) return 0;
    const [, sign, hours, minutes, seconds] = match;
    const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0);
    return (sign === "-" ? -size : size) * 1000;
  }
}

/** One week of a zone; it has at most one change of offset. */
interface Week {
  readonly before: number;
  readonly after: number;
  readonly changesAt: number;
}

import { MantelError, sentence } from "@mantel/plugin-sdk";
import { firstText, lineOf, nameOf, parseProperty } from "./content-line.ts";
import { describedZone } from "./described-zone.ts";
import { parseMoment } from "./moment.ts";
import type { RawZone } from "./parse.ts";
import { Budget, expandRecurrence } from "./recurrence-expansion.ts";
import { parseRule } from "./recurrence.ts";
import { findZone, UTC, type Zone } from "./zones.ts";

/** Onsets are worked out for these years. */
const SPAN = { from: Date.UTC(1970, 0), to: Date.UTC(2100, 0) };
const MAX_DAYS = 200_000;
/** Zones of one calendar; the IANA database has 600 names. */
const MAX_ZONES = 1_000;
/** Parts of one zone that are read; the zone with the most changes in the IANA database has 240. */
const MAX_OBSERVANCES = 500;

/**
 * The zones that a calendar's TZIDs mean. A name that the IANA database knows is taken from there,
 * because the rules that feeds bring along are often old; for others the feed's own rules count, and for
 * short names such as EST, which mean the clock of a place to some and one offset to others.
 */
export function zoneTable(definitions: readonly RawZone[]): (tzid: string) => Zone | undefined {
  const table = new Map<string, Zone | undefined>();
  const some = definitions.slice(0, MAX_ZONES);
  const byId = new Map(some.map((each) => [firstText(each.lines, "TZID"), each]));
  return (tzid) => {
    if (!table.has(tzid) && table.size < MAX_ZONES) {
      const own = () => definedZone(byId.get(tzid));
      const isShort = /^[A-Z]{3,4}$/i.test(tzid);
      const named = isShort ? (own() ?? findZone(tzid)) : (findZone(tzid) ?? own());
      table.set(tzid, named ?? describedZone(tzid));
    }
    return table.get(tzid);
  };
}

function definedZone(definition: RawZone | undefined): Zone | undefined {
  if (!definition) return undefined;
  const location = firstText(definition.lines, "X-LIC-LOCATION");
  return (location === undefined ? undefined : findZone(location)) ?? ruleZone(definition);
}

/** From when an offset holds. */
interface Onset {
  readonly instant: number;
  readonly before: number;
  readonly offset: number;
}

/** A zone made of the rules of a VTIMEZONE (RFC 5545, 3.6.5), as far as they can be read. */
function ruleZone({ observances }: RawZone): Zone | undefined {
  const budget = new Budget(MAX_DAYS);
  const onsets = observances
    .slice(-MAX_OBSERVANCES)
    .flatMap((lines) => readableOnsets(lines, budget))
    .toSorted((a, b) => a.instant - b.instant);
  const [earliest] = onsets;
  if (!earliest) return undefined;
  return {
    name: UTC.name,
    offsetAt: (instant) => onsets[lastAt(onsets, instant)]?.offset ?? earliest.before,
  };
}

/** The place of the last onset that is not after an instant; -1 when all are. */
function lastAt(onsets: readonly Onset[], instant: number): number {
  let low = -1;
  let high = onsets.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((onsets[middle]?.instant ?? Infinity) <= instant) low = middle;
    else high = middle;
  }
  return low;
}

function readableOnsets(lines: readonly string[], budget: Budget): Onset[] {
  try {
    return onsetsOf(lines, budget);
  } catch {
    return []; // what is left of the zone tells more about its events than nothing does
  }
}

function onsetsOf(lines: readonly string[], budget: Budget): Onset[] {
  const before = offsetOf(lines, "TZOFFSETFROM");
  const offset = offsetOf(lines, "TZOFFSETTO");
  // an UNTIL is in UTC, and the other times are on the clock as it is before the change (3.6.5)
  const clock: Zone = { name: UTC.name, offsetAt: () => before };
  const start = parseMoment(firstText(lines, "DTSTART") ?? "", clock);
  const walls = new Set([start.wall, ...listed(lines, clock)]);
  const rule = lineOf(lines, "RRULE");
  if (rule) {
    const parsed = parseRule(rule.slice(rule.indexOf(":") + 1), start);
    for (const wall of expandRecurrence(parsed, start.wall, { span: SPAN, budget }))
      walls.add(wall);
  }
  return [...walls].map((wall) => ({ instant: wall - before, before, offset }));
}

/** Onsets that are given one by one, as RDATE. */
function listed(lines: readonly string[], clock: Zone): number[] {
  return lines
    .filter((line) => nameOf(line) === "RDATE")
    .flatMap((line) => parseProperty(line).values)
    .map((value) => parseMoment(String(value), clock).wall);
}

function noProperty(name: string): MantelError {
  const told = sentence("zone_lacks", "a time zone of the feed has no {name}", { name });
  return new MantelError("invalid", told);
}

function offsetOf(lines: readonly string[], name: string): number {
  const match = /^([+-])(\d\d):?(\d\d)(?::?(\d\d))?$/.exec(firstText(lines, name) ?? "");
  if (!match) throw noProperty(name);
  const [, sign, hours, minutes, seconds] = match;
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0);
  return (sign === "-" ? -size : size) * 1000;
}

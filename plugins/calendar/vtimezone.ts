import { MantelError } from "@mantel/plugin-sdk";
import { firstText, lineOf } from "./content.ts";
import { parseMoment } from "./moment.ts";
import type { RawZone } from "./parse.ts";
import { parseRule } from "./recurrence.ts";
import { Budget, startsOf } from "./starts.ts";
import { findZone, UTC, type Zone } from "./zones.ts";

/** Onsets are worked out for these years. */
const SPAN = { from: Date.UTC(1970, 0), to: Date.UTC(2100, 0) };
const MAX_DAYS = 200_000;

/**
 * The zones that a calendar's TZIDs mean. A name that the IANA database knows is taken from there,
 * because the rules that feeds bring along are often old; for others the feed's own rules count.
 */
export function zoneTable(definitions: readonly RawZone[]): (tzid: string) => Zone | undefined {
  const table = new Map<string, Zone | undefined>();
  const byId = new Map(definitions.map((each) => [firstText(each.lines, "TZID"), each]));
  return (tzid) => {
    if (!table.has(tzid)) table.set(tzid, findZone(tzid) ?? definedZone(byId.get(tzid)));
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

/** A zone made of the rules of a VTIMEZONE (RFC 5545, 3.6.5). */
function ruleZone({ observances }: RawZone): Zone | undefined {
  const budget = new Budget(MAX_DAYS);
  const onsets = observances
    .flatMap((lines) => onsetsOf(lines, budget))
    .toSorted((a, b) => a.instant - b.instant);
  const [earliest] = onsets;
  if (!earliest) return undefined;
  return {
    name: UTC.name,
    offsetAt: (instant) =>
      onsets.findLast((onset) => onset.instant <= instant)?.offset ?? earliest.before,
  };
}

function onsetsOf(lines: readonly string[], budget: Budget): Onset[] {
  const before = offsetOf(lines, "TZOFFSETFROM");
  const offset = offsetOf(lines, "TZOFFSETTO");
  const start = parseMoment(firstText(lines, "DTSTART") ?? "", UTC);
  const rule = lineOf(lines, "RRULE");
  const walls = rule
    ? startsOf(parseRule(rule.slice(rule.indexOf(":") + 1), start), start.wall, {
        span: SPAN,
        budget,
      })
    : [start.wall];
  return [...walls].map((wall) => ({ instant: wall - before, before, offset }));
}

function offsetOf(lines: readonly string[], name: string): number {
  const match = /^([+-])(\d\d):?(\d\d)(?::?(\d\d))?$/.exec(firstText(lines, name) ?? "");
  if (!match) throw new MantelError("invalid", `a time zone of the feed has no ${name}`);
  const [, sign, hours, minutes, seconds] = match;
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0);
  return (sign === "-" ? -size : size) * 1000;
}

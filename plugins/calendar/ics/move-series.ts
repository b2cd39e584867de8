import { MantelError, type Sentence, sentence } from "@mantel/plugin-sdk";
import { type Component, valueOf } from "./edit-lines.ts";
import { timeLine } from "./event-text.ts";
import type { ParsedEvent } from "./event.ts";
import { instantOf, type Moment } from "./moment.ts";
import { movedRule } from "./rule-text.ts";
import { toWall } from "./zones.ts";

/** One VEVENT of an object. */
export interface EventText {
  readonly text: Component;
  readonly parsed: ParsedEvent;
}

/** A series whose start moves: the VEVENT of it that is changed, and the changed occurrences. */
interface MovingSeries {
  readonly master: Component;
  readonly parsed: ParsedEvent;
  readonly overrides: readonly EventText[];
}

/** An object that cannot be changed without altering what it means, or losing some of it. */
export function unsafe(why: Sentence): MantelError {
  return new MantelError("conflict", why);
}

/**
 * Moves what a series has besides its start: its rules, and removed and changed occurrences.
 * @param by milliseconds on the clock of the series; `undefined` for another clock
 * @throws MantelError `conflict` if that would change their meaning
 */
export function moveSeries(series: MovingSeries, by: number | undefined): void {
  if (by === 0) return;
  const { master, overrides, parsed } = series;
  const has = (name: string) => master.all(name).length > 0;
  if (has("RDATE") || has("EXRULE")) throw unsafe(SINGLE_DATES);
  if (by === undefined) {
    if (overrides.length > 0 || has("EXDATE")) throw unsafe(HAS_EXCEPTIONS);
    const isBound = master.all("RRULE").some((rule) => /BY|UNTIL/i.test(valueOf(rule)));
    if (isBound) throw unsafe(NAMES_DAYS);
    return;
  }
  const rules = master.all("RRULE").map((rule) => movedRule(valueOf(rule), parsed.start, by));
  const moved = rules.filter((rule) => rule !== undefined);
  if (moved.length < rules.length) throw unsafe(NAMES_DAYS);
  if (moved.length > 0) master.set("RRULE", ...moved.map((rule) => `RRULE:${rule}`));
  moveExceptions(series, by);
}

const SINGLE_DATES = sentence(
  "series_has_dates",
  "the series has single dates or excluded rules: change one occurrence",
);
const HAS_EXCEPTIONS = sentence(
  "series_has_exceptions",
  "the series has changed or removed occurrences: change its zone or length for one, or set rrule",
);
const NAMES_DAYS = sentence(
  "rule_names_days",
  "the rule of the series names days: send the new rule as rrule with the new start",
);

function moveExceptions({ master, parsed, overrides }: MovingSeries, by: number): void {
  const like = { line: master.find("DTSTART") ?? "", start: parsed.start };
  const shift = (name: string, moment: Moment) => {
    const wall = onClock(parsed.start, moment).wall + by;
    return timeLine(name, { ...parsed.start, wall }, like);
  };
  if (parsed.removed.length > 0) {
    master.set("EXDATE", ...parsed.removed.map((each) => shift("EXDATE", each)));
  }
  for (const each of overrides) {
    const start = each.parsed.replaces?.start;
    if (start) each.text.set("RECURRENCE-ID", shift("RECURRENCE-ID", start));
  }
}

function onClock(first: Moment, moment: Moment): Moment {
  if (first.allDay || moment.allDay || moment.zone === first.zone) return moment;
  return { ...first, wall: toWall(first.zone, instantOf(moment)) };
}

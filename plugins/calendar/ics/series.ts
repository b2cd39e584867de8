import { MantelError, sentence, type Sentence } from "@mantel/plugin-sdk";
import { inFormOf, type EventText, type Length, type ParsedEvent } from "./event.ts";
import { dayOf, instantOf, type Moment } from "./moment.ts";
import { type Budget, expandRecurrence } from "./recurrence-expansion.ts";
import type { Rule } from "./recurrence.ts";
import { DAY_MS, toInstant, toWall, UTC, type Zone } from "./zones.ts";

/** A half-open span of instants, in epoch milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One occurrence, worked out. */
export interface Occurrence {
  readonly uid: string;
  /** The start that the series gave it; `undefined` for an event that does not repeat. */
  readonly origin: Moment | undefined;
  readonly start: Moment;
  readonly end: Moment;
  readonly text: EventText;
  /** The reason why the repetitions of its series are not shown. */
  readonly problem?: Sentence | undefined;
}

/** An event with the occurrences of it that were changed; `master` is absent when only those came. */
export interface Series {
  readonly master: ParsedEvent | undefined;
  readonly overrides: readonly ParsedEvent[];
}

/** No calendar of a person has more of one series in a year: every hour of 416 days. */
const MAX_OCCURRENCES = 10_000;
/** Dates have no zone, and a day lasts somewhere on Earth from 14 hours before to 12 after UTC's. */
const DATE_MARGIN_MS = 14 * 3_600_000;

/**
 * The occurrences of a series that touch a span. Dates touch it when their day does anywhere on Earth.
 *
 * @throws MantelError `invalid` when the budget is used up, and for too many occurrences
 */
export function occurrencesOf(series: Series, span: Span, budget: Budget): Occurrence[] {
  const { master, overrides } = series;
  const changed = overrides
    .filter(({ text }) => text.status !== "cancelled")
    .map((override) => occurrenceOf(override, { origin: override.replaces?.start }));
  const regular = master ? regularOccurrences(master, overrides, { span, budget }) : [];
  return [...regular, ...changed].filter((each) => touches(each, span));
}

/** Only the first occurrence of a series whose repetitions cannot be followed, if it touches the span. */
export function firstOccurrence({ master }: Series, span: Span, problem: Sentence): Occurrence[] {
  if (!master) return [];
  const first = { ...occurrenceOf(master, { origin: master.start }), problem };
  return touches(first, span) ? [first] : [];
}

/** The occurrences of the master without those that were changed individually. */
function regularOccurrences(
  master: ParsedEvent,
  overrides: readonly ParsedEvent[],
  { span, budget }: { span: Span; budget: Budget },
): Occurrence[] {
  const replaced = overrides.flatMap(({ replaces }) => replaces?.start ?? []);
  const left = new Starts(master.start.allDay, [...master.removed, ...replaced]);
  if (!repeats(master) && overrides.length === 0) {
    return left.has(master.start) ? [] : [occurrenceOf(master, { origin: undefined })];
  }
  const shifts = shiftsOf(master, overrides);
  const occurrences: Occurrence[] = [];
  const wide = widened(span, [master, ...overrides], shifts);
  for (const start of startsOfRules(master, master.exceptions, { span: wide, budget }))
    left.add(start);
  for (const { start, length } of startsIn(master, wide, budget)) {
    if (left.has(start)) continue;
    left.add(start); // a start that two rules give is one occurrence
    budget.spend(shifts.length);
    const regular = occurrenceOf(master, { origin: start, start, length });
    const occurrence = shifted(regular, shifts, master.start);
    if (!occurrence || !touches(occurrence, span)) continue;
    occurrences.push(occurrence);
    if (occurrences.length > MAX_OCCURRENCES) throw tooOften();
  }
  return occurrences;
}

function tooOften(): MantelError {
  const values = { most: MAX_OCCURRENCES };
  return new MantelError(
    "invalid",
    sentence("too_many_occurrences", "an event has over {most} occurrences at that time", values),
  );
}

function repeats({ rules, added }: ParsedEvent): boolean {
  return rules.length > 0 || added.length > 0;
}

function* startsIn(
  master: ParsedEvent,
  span: Span,
  budget: Budget,
): Generator<{ start: Moment; length?: Length }> {
  yield { start: master.start };
  for (const start of startsOfRules(master, master.rules, { span, budget })) yield { start };
  yield* master.added;
}

function* startsOfRules(
  { start }: ParsedEvent,
  rules: readonly Rule[],
  { span, budget }: { span: Span; budget: Budget },
): Generator<Moment> {
  const walls = { from: span.from - DAY_MS, to: span.to + DAY_MS };
  for (const rule of rules) {
    for (const wall of expandRecurrence(rule, start.wall, { span: walls, budget }))
      yield { ...start, wall };
  }
}

/** An occurrence of an event: of a series with its `origin`, at another start or for another time. */
function occurrenceOf(
  event: ParsedEvent,
  { origin, start = event.start, length = event.length }: Placement,
): Occurrence {
  const { uid, text, problem } = event;
  return { uid, origin, start, end: endOf(start, length), text, problem };
}

interface Placement {
  readonly origin: Moment | undefined;
  readonly start?: Moment | undefined;
  readonly length?: Length | undefined;
}

/** Days are counted on the clock of the start, and the rest as time that passes (RFC 5545, 3.3.6). */
function endOf(start: Moment, { days, ms, zone = start.zone }: Length): Moment {
  const wall = start.wall + days * DAY_MS;
  if (start.allDay) return { ...start, wall };
  return momentAt(toInstant(start.zone, wall) + ms, zone);
}

function momentAt(instant: number, zone: Zone): Moment {
  return { allDay: false, wall: toWall(zone, instant), zone, instant };
}

/** A change of one occurrence and of all that follow it, until the next such change. */
interface Shift {
  readonly from: number;
  /** From what the clock of the series shows to what that of the change does. */
  readonly by: number;
  /** The first of the changed ones. */
  readonly start: Moment;
  readonly override: ParsedEvent;
}

function shiftsOf({ start: first }: ParsedEvent, overrides: readonly ParsedEvent[]): Shift[] {
  return overrides
    .flatMap((override) => {
      if (!override.replaces?.following) return [];
      const replaced = onClockOf(first, override.replaces.start);
      const start = newClock(first, override.start);
      const by = start.wall - placeOf(replaced, start.allDay);
      return [{ from: instantOf(replaced), by, start, override }];
    })
    .toSorted((a, b) => a.from - b.from);
}

/** A start as the series would give it: at its time of day where only the day is named, and on its clock. */
function onClockOf(first: Moment, start: Moment): Moment {
  const same = inFormOf(start, first);
  if (same.allDay || same.zone === first.zone) return same;
  return { ...first, wall: toWall(first.zone, instantOf(same)) };
}

/** The time zone after a change. A change in UTC has no zone, so that of the series stays. */
function newClock(first: Moment, changed: Moment): Moment {
  const stays = changed.zone === UTC && !changed.allDay && !first.allDay;
  return stays ? onClockOf(first, changed) : changed;
}

/** The local date and time; only the date if the change is a whole day. */
function placeOf(moment: Moment, allDay: boolean): number {
  return allDay ? dayOf(moment) * DAY_MS : moment.wall;
}

function shifted(
  occurrence: Occurrence,
  shifts: readonly Shift[],
  first: Moment,
): Occurrence | undefined {
  const at = instantOf(occurrence.start);
  const shift = shifts.findLast(({ from }) => from < at);
  if (!shift) return occurrence;
  const { override, by, start } = shift;
  if (override.text.status === "cancelled") return undefined;
  const wall = placeOf(onClockOf(first, occurrence.start), start.allDay) + by;
  return occurrenceOf(override, { origin: occurrence.origin, start: { ...start, wall } });
}

/** The span in which starts must be looked for so that no long or moved occurrence is missed. */
function widened(span: Span, events: readonly ParsedEvent[], shifts: readonly Shift[]): Span {
  const lengths = events.flatMap(({ length, added }) => [
    length,
    ...added.flatMap((each) => each.length ?? []),
  ]);
  const longest = Math.max(...lengths.map(({ days, ms }) => days * DAY_MS + ms));
  const moved = Math.max(0, ...shifts.map(({ by }) => Math.abs(by)));
  return { from: span.from - longest - moved - DAY_MS, to: span.to + moved + DAY_MS };
}

/** True when half-open spans overlap; an occurrence without length touches the moment it is at. */
function touches({ start, end }: Occurrence, span: Span): boolean {
  const margin = start.allDay ? DATE_MARGIN_MS : 0;
  const from = instantOf(start) - margin;
  const to = instantOf(end) + margin;
  return from < span.to && (to > span.from || (from === to && from >= span.from));
}

/** A set of starts. A date among times stands for every start on that day, and of dates only the day counts. */
class Starts {
  readonly #allDay: boolean;
  readonly #instants = new Set<number>();
  readonly #days = new Set<number>();

  constructor(allDay: boolean, starts: readonly Moment[]) {
    this.#allDay = allDay;
    for (const start of starts) this.add(start);
  }

  add(start: Moment): void {
    if (start.allDay || this.#allDay) this.#days.add(dayOf(start));
    else this.#instants.add(instantOf(start));
  }

  has(start: Moment): boolean {
    return this.#days.has(dayOf(start)) || this.#instants.has(instantOf(start));
  }
}

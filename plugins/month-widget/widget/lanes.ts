import type { Span } from "./events.ts";
import { dateIn, minuteIn } from "./month.ts";

/** A column of a week or a day: the events of a date, of one calendar if it is given. */
export interface Column {
  readonly date: string;
  readonly calendarId?: string;
}

/** An event that is drawn as a bar over whole days. */
export interface Bar {
  readonly span: Span;
  /** Index of its first column. */
  readonly from: number;
  /** Number of columns. */
  readonly columns: number;
  /** Its line, from 0; bars of one line do not overlap. */
  readonly lane: number;
  /** True if the event began before the first column. */
  readonly before: boolean;
  /** True if the event continues after the last column. */
  readonly after: boolean;
}

/** The part of a timed event that is on one day. */
export interface Block {
  readonly span: Span;
  /** Minutes since midnight. */
  readonly from: number;
  readonly to: number;
  /** Its place among the events at the same time, from 0, and their number. */
  readonly side: number;
  readonly sides: number;
}

const DAY_MS = 86_400_000;
const DAY_MINUTES = 24 * 60;
/** Shorter events are drawn as long as this, so that their titles are legible. */
const LEAST_MINUTES = 30;

/** True for an all-day event, and for one that lasts a day or longer. */
function isBar({ startAt, endAt }: Span): boolean {
  return startAt === undefined || (endAt ?? startAt) - startAt >= DAY_MS;
}

/** The bars over these columns: long ones first, each in the first line that is free. */
export function barsOf(spans: readonly Span[], columns: readonly Column[]): Bar[] {
  const found = spans
    .filter(isBar)
    .map((span) => ({ span, at: columns.flatMap((each, at) => (covers(span, each) ? [at] : [])) }))
    .filter(({ at }) => at.length > 0)
    .toSorted((a, b) => (a.at[0] ?? 0) - (b.at[0] ?? 0) || b.at.length - a.at.length);
  const ends: number[] = [];
  return found.map(({ span, at }) => {
    const from = at[0] ?? 0;
    const free = ends.findIndex((end) => end <= from);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = from + at.length;
    const before = span.first < (columns[0]?.date ?? "");
    const after = span.last > (columns.at(-1)?.date ?? "");
    return { span, from, columns: at.length, lane, before, after };
  });
}

/** The timed events of one column, those at the same time side by side. */
export function blocksOf(spans: readonly Span[], column: Column, timeZone: string): Block[] {
  const timed = spans
    .filter((span) => !isBar(span) && covers(span, column))
    .map((span) => ({ span, ...minutesOf(span, column.date, timeZone) }))
    .toSorted((a, b) => a.from - b.from || b.to - a.to);
  const blocks: Block[] = [];
  let group: Omit<Block, "sides">[] = [];
  let groupEnd = 0;
  const close = (): void => {
    const sides = Math.max(0, ...group.map(({ side }) => side)) + 1;
    blocks.push(...group.map((each) => ({ ...each, sides })));
    group = [];
  };
  for (const each of timed) {
    if (each.from >= groupEnd) close();
    const taken = new Set(group.filter(({ to }) => to > each.from).map(({ side }) => side));
    let side = 0;
    while (taken.has(side)) side++;
    group.push({ ...each, side });
    groupEnd = Math.max(groupEnd, each.to);
  }
  close();
  return blocks;
}

function covers({ first, last, calendarId }: Span, column: Column): boolean {
  const isOwn = column.calendarId === undefined || column.calendarId === calendarId;
  return isOwn && first <= column.date && column.date <= last;
}

function minutesOf(
  { startAt = 0, endAt = startAt }: Span,
  date: string,
  timeZone: string,
): { from: number; to: number } {
  const starts = dateIn(startAt, timeZone) === date ? minuteIn(startAt, timeZone) : 0;
  const ends = dateIn(endAt, timeZone) === date ? minuteIn(endAt, timeZone) : DAY_MINUTES;
  const from = Math.min(starts, DAY_MINUTES - LEAST_MINUTES);
  return { from, to: Math.max(ends, from + LEAST_MINUTES) };
}

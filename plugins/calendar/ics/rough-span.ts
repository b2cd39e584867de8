import { nameOf } from "./content-line.ts";
import type { RawEvent } from "./parse.ts";
import type { Span } from "./series.ts";
import { DAY_MS } from "./zones.ts";

/** Covers every time zone, and a duration counted from the wrong end. */
const MARGIN_MS = 3 * DAY_MS;

/**
 * A span that covers all occurrences of an event and its changes, from only the digits of their
 * dates. This costs a hundredth of parsing them, so most of a feed with many years is skipped.
 */
export function roughSpan(events: readonly RawEvent[]): Span {
  const spans = events.map(spanOf);
  return {
    from: Math.min(...spans.map(({ from }) => from)),
    to: Math.max(...spans.map(({ to }) => to)),
  };
}

const ALWAYS: Span = { from: -Infinity, to: Infinity };

function spanOf({ lines }: RawEvent): Span {
  const { first, rules } = glance(lines);
  const start = dayIn(first.get("DTSTART"));
  const following = /;RANGE=/i.test(first.get("RECURRENCE-ID") ?? "");
  if (start === undefined || first.has("RDATE") || following) return ALWAYS;
  const from = start - MARGIN_MS;
  if (first.has("DURATION")) return { from, to: Infinity };
  const end = Math.max(start, dayIn(first.get("DTEND")) ?? start);
  const last = Math.max(start, ...rules.map(lastDay));
  return { from, to: last + (end - start) + MARGIN_MS };
}

/** Of a repeated property only the first counts, as in the parser; of rules, all count. */
function glance(lines: readonly string[]) {
  const first = new Map<string, string>();
  const rules: string[] = [];
  for (const line of lines) {
    const name = nameOf(line);
    if (name === "RRULE") rules.push(line);
    else if (!first.has(name)) first.set(name, line);
  }
  return { first, rules };
}

function lastDay(rule: string): number {
  return dayIn(/[:;]UNTIL(=\d{8})/i.exec(rule)?.[1]?.replace("=", ":")) ?? Infinity;
}

/** The first eight digits after a colon, as a date; impossible days roll over into the next month. */
function dayIn(line: string | undefined): number | undefined {
  const match = line === undefined ? null : /:(\d{4})(\d\d)(\d\d)/.exec(line);
  return match ? Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])) : undefined;
}

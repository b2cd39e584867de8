import { nameOf } from "./content.ts";
import type { RawEvent } from "./parse.ts";
import type { Span } from "./series.ts";
import { DAY_MS } from "./zones.ts";

/** Covers every time zone, and a duration that was counted from the wrong end. */
const MARGIN_MS = 3 * DAY_MS;

/**
 * A span that holds every occurrence of an event and its changes, from a glance at the digits of their
 * dates. It costs a hundredth of reading them, so a feed of many years is mostly passed over.
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
  const byName = new Map(lines.map((line) => [nameOf(line), line]));
  const start = dayIn(byName.get("DTSTART"));
  const range = byName.get("RECURRENCE-ID");
  if (start === undefined || byName.has("RDATE") || range?.includes("RANGE")) return ALWAYS;
  const from = start - MARGIN_MS;
  if (byName.has("DURATION")) return { from, to: Infinity };
  const end = Math.max(start, dayIn(byName.get("DTEND")) ?? start);
  const rule = byName.get("RRULE");
  if (rule === undefined) return { from, to: end + MARGIN_MS };
  const until = dayIn(/UNTIL=(\d{8})/i.exec(rule)?.[0].replace("=", ":"));
  const last = until === undefined ? Infinity : Math.max(until, start);
  return { from, to: last + (end - start) + MARGIN_MS };
}

/** The first eight digits after a colon, as a date; impossible days roll over into the next month. */
function dayIn(line: string | undefined): number | undefined {
  const match = line === undefined ? null : /:(\d{4})(\d\d)(\d\d)/.exec(line);
  return match ? Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])) : undefined;
}

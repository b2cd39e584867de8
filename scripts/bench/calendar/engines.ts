import ICAL from "ical.js";
import ical, { type VEvent } from "node-ical";
import { withBounds, overlapping } from "../../../host/calendar/select.ts";
import { Feed } from "../../../plugins/calendar/ics/feed.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";

/** One occurrence. Instants are ISO 8601 in UTC, dates look like `2026-06-01`. */
export interface FoundOccurrence {
  readonly start: string;
  readonly end: string;
  readonly title: string;
}

/** Parses a calendar and returns a function that looks up a window, given in epoch milliseconds. */
type Engine = (
  bytes: Buffer,
  homeZone: string,
) => Promise<(from: number, to: number) => Promise<FoundOccurrence[]> | FoundOccurrence[]>;

/** Each library, used as in its documentation. Times without a zone are in the process's zone, which is the home's. */
export const ENGINES: Readonly<Record<string, Engine>> = {
  mantel,
  "ical.js": plainIcal,
  "node-ical": nodeIcal,
};

async function mantel(bytes: Buffer, homeZone: string) {
  const feed = await Feed.read(bytes, findZone(homeZone) ?? UTC);
  return async (from: number, to: number) => {
    const { events } = await feed.eventsIn({ from, to }, { calendarId: "a", color: "#112233" });
    const text = (bound: (typeof events)[number]["start"]) =>
      "date" in bound ? bound.date : new Date(bound.dateTime).toISOString();
    return overlapping(withBounds(events), { start: from, end: to, timeZone: homeZone }).map(
      ({ event }) => ({
        start: text(event.start),
        end: text(event.end),
        title: event.title,
      }),
    );
  };
}

async function plainIcal(bytes: Buffer) {
  const jcal = ICAL.parse(bytes.toString()) as unknown[];
  const roots = (typeof jcal[0] === "string" ? [jcal] : jcal) as ConstructorParameters<
    typeof ICAL.Component
  >[0][];
  const series = roots.flatMap((root) => seriesIn(new ICAL.Component(root)));
  return (from: number, to: number) => series.flatMap((event) => occurrencesOf(event, from, to));
}

/** Exceptions are passed by UID, because the library's default search compares every event with every other. */
function seriesIn(calendar: ICAL.Component): ICAL.Event[] {
  const all = calendar
    .getAllSubcomponents("vevent")
    .map((each) => new ICAL.Event(each, { exceptions: [] }));
  const masters = new Map(
    all.filter((each) => !each.isRecurrenceException()).map((each) => [each.uid, each]),
  );
  for (const each of all) {
    if (each.isRecurrenceException()) masters.get(each.uid)?.relateException(each);
  }
  return [...masters.values()];
}

function occurrencesOf(event: ICAL.Event, from: number, to: number): FoundOccurrence[] {
  const found: FoundOccurrence[] = [];
  const add = (item: ICAL.Event, start: ICAL.Time, end: ICAL.Time) => {
    const text = (time: ICAL.Time) =>
      time.isDate ? time.toString() : time.toJSDate().toISOString();
    const [first, last] = [start.toJSDate().getTime(), end.toJSDate().getTime()];
    if (first < to && (last > from || first >= from)) {
      found.push({ start: text(start), end: text(end), title: item.summary ?? "" });
    }
    return first < to;
  };
  if (!event.isRecurring()) {
    add(event, event.startDate, event.endDate);
    return found;
  }
  const iterator = event.iterator();
  for (let next = iterator.next(); next; next = iterator.next()) {
    const { item, startDate, endDate } = event.getOccurrenceDetails(next);
    if (!add(item, startDate, endDate)) break;
  }
  return found;
}

async function nodeIcal(bytes: Buffer) {
  const events = Object.values(ical.sync.parseICS(bytes.toString())).filter(
    (each): each is VEvent => each?.type === "VEVENT",
  );
  return (from: number, to: number) => {
    const options = { from: new Date(from), to: new Date(to - 1), expandOngoing: true };
    return events.flatMap((event) =>
      ical.expandRecurringEvent(event, options).map((each) => {
        const text = (date: Date) =>
          each.isFullDay ? date.toLocaleDateString("sv-SE") : date.toISOString();
        return { start: text(each.start), end: text(each.end), title: titleOf(each.summary) };
      }),
    );
  };
}

/** The library represents a text with parameters as an object. */
function titleOf(summary: string | { readonly val: string } | undefined): string {
  return typeof summary === "string" ? summary : (summary?.val ?? "");
}

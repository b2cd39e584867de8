import { inEnglish } from "@mantel/plugin-sdk";
import { Feed } from "../../../plugins/calendar/ics/feed.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";

const BERLIN = findZone("Europe/Berlin") ?? UTC;
const MARKING = { calendarId: "home", color: "#112233" };

/** The events of a window in 2026, by start. The home is in Berlin. */
export async function expand(bytes: Buffer, from = "2026-01-01", to = "2027-01-01") {
  return windowOf(await Feed.read(bytes, BERLIN), from, to);
}

/** As `expand`, of a calendar that was read before. */
export async function windowOf(feed: Feed, from = "2026-01-01", to = "2027-01-01") {
  const expansion = await feed.eventsIn({ from: Date.parse(from), to: Date.parse(to) }, MARKING);
  const bound = (at: { date: string } | { dateTime: string }) =>
    "date" in at ? at.date : at.dateTime;
  const events = expansion.events
    .map((each) => ({ ...each, from: bound(each.start), to: bound(each.end) }))
    .toSorted((a, b) => (a.from < b.from ? -1 : 1));
  const reason = expansion.reason && inEnglish(expansion.reason);
  return { ...expansion, reason, feed, events, starts: events.map(({ from: start }) => start) };
}

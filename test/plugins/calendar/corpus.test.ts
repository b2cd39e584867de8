import assert from "node:assert/strict";
import { test } from "node:test";
import { type CalendarBound, inEnglish } from "@mantel/plugin-sdk";
import { withBounds, overlapping } from "../../../host/calendar/select.ts";
import { startOfDay } from "../../../plugin-sdk/time/zone.ts";
import { Feed } from "../../../plugins/calendar/ics/feed.ts";
import { findZone } from "../../../plugins/calendar/ics/zones.ts";
import { type Case, compare, readCorpus } from "./corpus.ts";

const MARKING = { calendarId: "home", color: "#112233" };
const CORPUS = readCorpus();

for (const each of CORPUS) {
  test(each.name, async () => {
    const { found, skipped, simplified, reason } = await expand(each);
    const [expected, actual] = compare(each.expected, found);

    assert.deepEqual(actual, expected, reason);
    assert.equal(skipped, each.skipped, reason);
    assert.equal(simplified, each.simplified, reason);
  });
}

test("the corpus has at least 150 cases, each with a name of its own", () => {
  assert.ok(CORPUS.length >= 150);
  assert.equal(new Set(CORPUS.map(({ name }) => name)).size, CORPUS.length);
});

/** The events that Mantel shows in the window: the plugin computes them, and the host cuts them to days of the home. */
async function expand({ calendar, window, homeZone }: Case) {
  const [start, end] = [startOfDay(window[0], homeZone), startOfDay(window[1], homeZone)];
  const zone = findZone(homeZone) ?? assert.fail(`there is no zone ${homeZone}`);
  const feed = await Feed.read(calendar, zone);
  const { events, skipped, simplified, reason } = await feed.eventsIn(
    { from: start, to: end },
    MARKING,
  );
  const found = overlapping(withBounds(events), { start, end, timeZone: homeZone }).map(
    ({ event }) => ({
      start: textOf(event.start),
      end: textOf(event.end),
      title: event.title,
    }),
  );
  return { found, skipped, simplified, reason: reason && inEnglish(reason) };
}

function textOf(bound: CalendarBound): string {
  return "date" in bound ? bound.date : new Date(bound.dateTime).toISOString();
}

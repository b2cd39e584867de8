import assert from "node:assert/strict";
import { test } from "node:test";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import type { Settings } from "../../../plugins/calendar/options.ts";
import { Source } from "../../../plugins/calendar/source.ts";
import { calendar, event } from "./calendar-text.ts";

const YEAR = { from: Date.parse("2026-01-01"), to: Date.parse("2027-01-01") };
const titled = (title: string) =>
  event(
    `UID:secret-${title}`,
    "DTSTART:20260601T090000Z",
    `SUMMARY:${title}`,
    "LOCATION:secret",
    "DESCRIPTION:secret",
    "URL:https://secret.example/",
  );

async function shown(
  settings: Settings,
  {
    locale = "en-GB",
    bytes = calendar(titled("Restmüll"), titled("Papier"), titled("Secret")),
  } = {},
) {
  const source = new Source({ id: "bins", settings, fallbackName: "bins", floating: UTC, locale });
  await source.read([bytes], new Date());
  const expansion = await source.prepare(YEAR);
  const { events } = expansion;
  const view = source.view(expansion);
  source.close();
  return { events, titles: events.map(({ title }) => title), view };
}

test("only events whose title contains one of the words are shown, also within longer words", async () => {
  assert.deepEqual((await shown({ include: ["MÜLL", "papier"] })).titles, ["Restmüll", "Papier"]);
});

test("events whose title contains an excluded word are omitted", async () => {
  assert.deepEqual((await shown({ exclude: ["secret", "rest"] })).titles, ["Papier"]);
  assert.deepEqual((await shown({ include: ["p"], exclude: ["papier"] })).titles, []);
});

test("words match in every Unicode form of their accents", async () => {
  assert.deepEqual((await shown({ include: ["mu\u0308ll"] })).titles, ["Restmüll"]);
});

test("events whose title or category has a word have its colour, and of several words the first counts", async () => {
  const bytes = calendar(
    event("UID:a", "DTSTART:20260601T090000Z", "SUMMARY:Fußballtraining", "COLOR:red"),
    event("UID:b", "DTSTART:20260602T090000Z", "SUMMARY:Match", "CATEGORIES:Club\\, FUSSBALL,x"),
    event("UID:c", "DTSTART:20260603T090000Z", "SUMMARY:Choir", "CATEGORIES:Club"),
    event("UID:d", "DTSTART:20260604T090000Z", "SUMMARY:Dentist"),
  );
  const colors = { fußball: "#00AA00", fussball: "#00bb00", club: "#0000aa" };

  const { events } = await shown({ color: "#112233", colors }, { bytes });

  const shownColors = events.map(({ color }) => color);
  assert.deepEqual(shownColors, ["#00aa00", "#00bb00", "#0000aa", "#112233"]);
});

test("a private calendar has no reminders", async () => {
  const alarm = ["BEGIN:VALARM", "TRIGGER:-PT15M", "END:VALARM"];
  const bytes = calendar(event("UID:a", "DTSTART:20260601T090000Z", ...alarm));

  const open = await shown({}, { bytes });
  const secret = await shown({ private: true }, { bytes });

  assert.deepEqual(open.events[0]?.reminders, [{ offsetMs: -900_000 }]);
  assert.ok(secret.events[0] && !("reminders" in secret.events[0]));
});

test("a private calendar shows neither categories nor their colours", async () => {
  const bytes = calendar(
    event("UID:a", "DTSTART:20260601T090000Z", "SUMMARY:Check", "CATEGORIES:Doctor"),
  );

  const { events } = await shown({ private: true, colors: { doctor: "#00aa00" } }, { bytes });

  assert.doesNotMatch(JSON.stringify(events), /doctor|#00aa00/i);
});

const INVITED = calendar(
  event(
    "UID:a",
    "DTSTART:20260601T090000Z",
    "RRULE:FREQ=DAILY;COUNT=2",
    "SUMMARY:Review",
    "ATTENDEE;PARTSTAT=ACCEPTED;CN=ann@example.org:mailto:bob@example.org",
    "ATTENDEE;PARTSTAT=Declined:MAILTO:Ann@Example.org",
  ),
  event(
    "UID:a",
    "RECURRENCE-ID:20260602T090000Z",
    "DTSTART:20260602T090000Z",
    "SUMMARY:Review with Ann",
    "ATTENDEE;PARTSTAT=ACCEPTED:mailto:ann@example.org",
  ),
  event(
    "UID:b",
    "DTSTART:20260603T090000Z",
    "SUMMARY:Choir",
    "ATTENDEE;PARTSTAT=TENTATIVE;EMAIL=ann@example.org:urn:uuid:5c6f",
  ),
  event("UID:c", "DTSTART:20260604T090000Z", "SUMMARY:Zoo", "ATTENDEE:mailto:bob@example.org"),
);

test("events have the answer of the calendar's own person, and declined ones are not busy", async () => {
  const { events } = await shown({ mailAddresses: ["ann@example.org"] }, { bytes: INVITED });

  const answers = events
    .toSorted((a, b) => (a.title < b.title ? -1 : 1))
    .map(({ title, attendance, busy }) => [title, attendance, busy]);
  assert.deepEqual(answers, [
    ["Choir", "tentative", true],
    ["Review", "declined", false],
    ["Review with Ann", "accepted", true],
    ["Zoo", undefined, true],
  ]);
});

test("declined events are hidden on request, and in a private calendar", async () => {
  const mailAddresses = ["ann@example.org"];
  const hidden = await shown({ mailAddresses, hideDeclined: true }, { bytes: INVITED });
  const secret = await shown({ mailAddresses, private: true }, { bytes: INVITED });

  assert.deepEqual(hidden.titles.toSorted(), ["Choir", "Review with Ann", "Zoo"]);
  assert.deepEqual(secret.titles, ["Busy", "Busy", "Busy"]);
  assert.doesNotMatch(JSON.stringify(secret.events), /tentative|accepted/);
});

test("a private calendar shows times of events and nothing else", async () => {
  const { events, titles } = await shown({ private: true, include: ["secret"] });

  assert.deepEqual(titles, ["Busy"]);
  assert.doesNotMatch(JSON.stringify(events), /secret/i);
  assert.deepEqual(events[0]?.start, { dateTime: "2026-06-01T09:00:00Z", timeZone: "UTC" });
});

test("the title of private events is in the language of the home", async () => {
  assert.equal((await shown({ private: true }, { locale: "de-CH" })).titles[0], "Belegt");
  assert.equal((await shown({ private: true }, { locale: "xx" })).titles[0], "Busy");
});

test("errors of a private calendar reveal nothing of its content", async () => {
  const bytes = calendar(event("UID:a", "DTSTART:secret"));

  const { view } = await shown({ private: true }, { bytes });

  assert.equal(view.error, "1 event was skipped");
});

test("events of a private calendar keep their ids, and have one each", async () => {
  const series = calendar(event("UID:a", "DTSTART:20260601T090000Z", "RRULE:FREQ=DAILY;COUNT=3"));
  const ids = async () =>
    (await shown({ private: true }, { bytes: series })).events.map(({ id }) => id);

  assert.equal(new Set(await ids()).size, 3);
  assert.deepEqual(await ids(), await ids());
});

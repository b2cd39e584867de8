import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  CalendarEventPatch,
  ChangeScope,
  MantelError,
  NewCalendarEvent,
} from "@mantel/plugin-sdk";
import ICAL from "ical.js";
import { EditedObject } from "../../../plugins/calendar/ics/change-event.ts";
import { newObject } from "../../../plugins/calendar/ics/new-event.ts";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { calendar, event as eventText } from "./calendar-text.ts";
import { expand } from "./expand.ts";

const BERLIN = findZone("Europe/Berlin") ?? UTC;
const CONTEXT = {
  zone: BERLIN,
  now: Date.parse("2026-05-01T12:00:00Z"),
  newUid: () => "new-uid",
};

const FOLDED =
  'X-NOTE;X-P="a;b:c":a long line of another program that is folded in a pla\r\n ce of its own, and stays';
/** A weekly series with a change, an alarm, an attendee and lines that Mantel does not know. */
const SERIES = [
  "BEGIN:VCALENDAR",
  "PRODID:-//Other//EN",
  "BEGIN:VTIMEZONE",
  "TZID:Berlin here",
  "X-LIC-LOCATION:Europe/Berlin",
  "BEGIN:STANDARD",
  "DTSTART:19701025T030000",
  "TZOFFSETFROM:+0200",
  "TZOFFSETTO:+0100",
  "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
  "END:STANDARD",
  "BEGIN:DAYLIGHT",
  "DTSTART:19700329T020000",
  "TZOFFSETFROM:+0100",
  "TZOFFSETTO:+0200",
  "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
  "END:DAYLIGHT",
  "END:VTIMEZONE",
  "BEGIN:VEVENT",
  "UID:a",
  FOLDED,
  "DTSTART;TZID=Berlin here:20260601T090000",
  "DURATION:PT1H",
  "RRULE:FREQ=WEEKLY;COUNT=5",
  "EXDATE;TZID=Berlin here:20260608T090000",
  "summary:choir",
  "ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.org",
  "BEGIN:VALARM",
  "TRIGGER:-PT15M",
  "SUMMARY:of the alarm",
  "END:VALARM",
  "END:VEVENT",
  "BEGIN:VEVENT",
  "UID:a",
  "RECURRENCE-ID;TZID=Berlin here:20260622T090000",
  "DTSTART;TZID=Berlin here:20260622T110000",
  "DURATION:PT1H",
  "SUMMARY:choir late",
  "END:VEVENT",
  "END:VCALENDAR",
  "",
].join("\r\n");

const THIRD = "2026-06-15T07:00:00Z";

async function update(
  scope: ChangeScope,
  fields: CalendarEventPatch,
  origin = THIRD,
  text = SERIES,
) {
  const edited = await EditedObject.read(Buffer.from(text), origin, CONTEXT);
  const made = edited.update(scope, fields);
  const added = "added" in made ? made.added : undefined;
  const changed = "added" in made ? made.rest.bytes : made.changed;
  return {
    text: changed.toString(),
    shown: await shownIn(changed),
    added: added?.bytes.toString(),
    shownAdded: added && (await shownIn(added.bytes)),
  };
}

/** The occurrences as `start title`. */
async function shownIn(bytes: Buffer) {
  const { events, reason } = await expand(bytes);
  assert.equal(reason, undefined);
  assert.ok(ICAL.parse(bytes.toString()));
  return events.map(({ from, title }) => `${from.slice(5, 16)} ${title}`);
}

/** The lines of a text that the other does not have. */
function linesBeyond(text: string, other: string): string[] {
  const known = other.split("\r\n");
  return text.split("\r\n").filter((line) => !known.includes(line));
}

test("the original series is understood as it is shown", async () => {
  assert.deepEqual(await shownIn(Buffer.from(SERIES)), [
    "06-01T09:00 choir",
    "06-15T09:00 choir",
    "06-22T11:00 choir late",
    "06-29T09:00 choir",
  ]);
});

test("of a changed series everything else stays byte for byte", async () => {
  const { text } = await update("all", { title: "orchestra" });

  assert.deepEqual(linesBeyond(text, SERIES), [
    "SUMMARY:orchestra",
    "DTSTAMP:20260501T120000Z",
    "LAST-MODIFIED:20260501T120000Z",
    "SEQUENCE:1",
  ]);
  assert.deepEqual(linesBeyond(SERIES, text), ["summary:choir"]);
});

test("bytes that are not UTF-8, and folds inside characters, stay", async () => {
  const bytes = Buffer.from(SERIES.replace("X-NOTE", "X-OTHER:\u00ff\r\nX-NOTE"), "latin1");
  const edited = await EditedObject.read(bytes, THIRD, CONTEXT);

  const made = edited.update("all", { title: "ö".repeat(60) });
  const changed = "changed" in made ? made.changed : assert.fail("it was divided");

  assert.ok(changed.includes(Buffer.from("X-OTHER:\u00ff\r\n", "latin1")));
  assert.equal((await expand(changed)).events[0]?.title, "ö".repeat(60));
  assert.ok(
    changed
      .toString("latin1")
      .split("\r\n")
      .every((line) => line.length <= 91),
  );
});

test("one occurrence becomes a change of its own, with alarm and attendee", async () => {
  const { text, shown } = await update("this", {
    title: "rehearsal",
    start: { dateTime: "2026-06-16T18:00:00Z" },
  });

  assert.deepEqual(shown, [
    "06-01T09:00 choir",
    "06-16T20:00 rehearsal",
    "06-22T11:00 choir late",
    "06-29T09:00 choir",
  ]);
  assert.match(text, /RECURRENCE-ID;TZID=Berlin here:20260615T090000/);
  assert.equal(text.match(/BEGIN:VALARM/g)?.length, 2);
  assert.equal(text.match(/ATTENDEE;/g)?.length, 2);
});

test("an occurrence that was changed before is changed again", async () => {
  const { shown, text } = await update("this", { title: "later" }, "2026-06-22T07:00:00Z");

  assert.equal(shown[2], "06-22T11:00 later");
  assert.equal(text.match(/RECURRENCE-ID/g)?.length, 1);
});

test("all occurrences move together, with what was removed and changed", async () => {
  const { shown } = await update("all", { start: { dateTime: "2026-06-15T10:30:00+02:00" } });

  assert.deepEqual(shown, [
    "06-01T10:30 choir",
    "06-15T10:30 choir",
    "06-22T11:00 choir late",
    "06-29T10:30 choir",
  ]);
});

test("a series that names its weekday moves to another one, with its end and what was removed", async () => {
  const text = SERIES.replace("COUNT=5", "BYDAY=MO;UNTIL=20260629T070000Z");

  const moved = await update(
    "all",
    { start: { dateTime: "2026-06-17T09:00:00+02:00" } },
    THIRD,
    text,
  );

  assert.match(moved.text, /RRULE:FREQ=WEEKLY;UNTIL=20260701T070000Z;BYDAY=WE/);
  assert.match(moved.text, /EXDATE;TZID=Berlin here:20260610T090000/);
  assert.deepEqual(moved.shown, [
    "06-03T09:00 choir",
    "06-17T09:00 choir",
    "06-22T11:00 choir late",
    "07-01T09:00 choir",
  ]);
});

for (const [what, series, to, last] of [
  [
    "back over the change to summer time",
    ["DTSTART;TZID=Europe/Berlin:20260308T090000", "RRULE:FREQ=WEEKLY;UNTIL=20260329T070000Z"],
    "2026-03-07T09:00:00+01:00",
    "2026-03-28T09:00:00+01:00",
  ],
  [
    "forward over the change to winter time",
    ["DTSTART;TZID=Europe/Berlin:20261003T090000", "RRULE:FREQ=WEEKLY;UNTIL=20261024T070000Z"],
    "2026-10-04T09:00:00+02:00",
    "2026-10-25T09:00:00+01:00",
  ],
  [
    "of whole days",
    ["DTSTART;VALUE=DATE:20260601", "RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20260622"],
    "2026-05-31",
    "2026-06-21",
  ],
] as const) {
  test(`the last occurrence of a series stays when it moves ${what}`, async () => {
    const text = calendar(eventText("UID:a", "DTSTAMP:20260101T000000Z", ...series, "SUMMARY:a"));
    const { starts } = await expand(text);
    const start = to.length === 10 ? { date: to } : { dateTime: to };
    const [first = ""] = starts;
    const origin = first.length === 10 ? first : `${new Date(first).toISOString().slice(0, 19)}Z`;

    const edited = await EditedObject.read(text, origin, CONTEXT);
    const moved = edited.update("all", { start });

    assert.ok("changed" in moved);
    const after = (await expand(moved.changed)).starts;
    assert.equal(after.length, starts.length);
    assert.equal(after.at(-1), last);
  });
}

test("one occurrence becomes an event of another calendar, with alarm and attendee", async () => {
  const edited = await EditedObject.read(Buffer.from(SERIES), THIRD, CONTEXT);

  const { added, rest } = edited.detach("this", { location: "Hall" });

  const text = added.bytes.toString();
  assert.deepEqual(await shownIn(added.bytes), ["06-15T09:00 choir"]);
  const [own = ""] = /BEGIN:VEVENT[^]*/.exec(text) ?? [];
  assert.doesNotMatch(own, /RECURRENCE-ID|RRULE|EXDATE|UID:a\r/);
  assert.match(text, /BEGIN:VALARM/);
  assert.match(text, /ATTENDEE;PARTSTAT=ACCEPTED/);
  assert.ok(text.includes(FOLDED));
  assert.deepEqual(await shownIn(rest?.bytes ?? assert.fail("nothing is left")), [
    "06-01T09:00 choir",
    "06-22T11:00 choir late",
    "06-29T09:00 choir",
  ]);
});

test("this and the following occurrences become a series of their own", async () => {
  const { shown, shownAdded, added } = await update("following", { title: "band" });

  assert.deepEqual(shown, ["06-01T09:00 choir"]);
  assert.deepEqual(shownAdded, ["06-15T09:00 band", "06-22T11:00 choir late", "06-29T09:00 band"]);
  assert.match(added ?? "", /RRULE:FREQ=WEEKLY;COUNT=3/);
  assert.deepEqual(new Set(added?.match(/^UID:.*$/gm)), new Set(["UID:new-uid"]));
});

test("another zone is described in the object, and the series keeps its time there", async () => {
  const single = SERIES.replace(/RRULE:FREQ=WEEKLY.*\r\nEXDATE.*\r\n/, "").replace(
    /BEGIN:VEVENT\r\nUID:a\r\nRECURRENCE-ID[^]*?END:VEVENT\r\n/,
    "",
  );
  const { text, shown } = await update(
    "all",
    { start: { dateTime: "2026-06-01T10:00:00-04:00", timeZone: "America/New_York" } },
    "2026-06-01T07:00:00Z",
    single,
  );

  assert.deepEqual(shown, ["06-01T10:00 choir"]);
  assert.match(text, /DTSTART;TZID=America\/New_York:20260601T100000/);
  assert.match(text, /TZID:America\/New_York\r\n[^]*BYMONTH=3;BYDAY=2SU/);
});

test("removing one, the following or all occurrences leaves the others", async () => {
  const remove = async (scope: ChangeScope, origin = THIRD) => {
    const bytes = (await EditedObject.read(Buffer.from(SERIES), origin, CONTEXT)).remove(scope);
    return bytes && (await shownIn(bytes));
  };

  assert.deepEqual(await remove("this"), [
    "06-01T09:00 choir",
    "06-22T11:00 choir late",
    "06-29T09:00 choir",
  ]);
  assert.deepEqual(await remove("this", "2026-06-22T07:00:00Z"), [
    "06-01T09:00 choir",
    "06-15T09:00 choir",
    "06-29T09:00 choir",
  ]);
  assert.deepEqual(await remove("following"), ["06-01T09:00 choir"]);
  assert.equal(await remove("following", "2026-06-01T07:00:00Z"), undefined);
  assert.equal(await remove("all"), undefined);
});

test("a change that would alter the meaning of a rule is refused with the way out", async () => {
  const refused = { code: "conflict", message: /send the new rule as rrule/ };
  const tuesday = { start: { dateTime: "2026-06-16T09:00:00+02:00" } };
  const withRule = (rule: string) => SERIES.replace("FREQ=WEEKLY;COUNT=5", rule);
  for (const rule of [
    "FREQ=WEEKLY;COUNT=5;BYDAY=MO,WE",
    "FREQ=MONTHLY;COUNT=5;BYDAY=1MO",
    "FREQ=MONTHLY;COUNT=5;BYMONTHDAY=1,15",
  ]) {
    await assert.rejects(update("all", tuesday, THIRD, withRule(rule)), refused, rule);
  }
  const later = { start: { dateTime: "2026-06-15T10:00:00+02:00" } };
  const twice = withRule("FREQ=WEEKLY;COUNT=5;BYHOUR=9,15");
  await assert.rejects(update("all", later, THIRD, twice), refused);
  await assert.rejects(update("this", { rrule: "FREQ=DAILY" }), { code: "invalid" });
  const early = update("all", { end: { dateTime: "2026-06-01T00:00:00Z" } });
  await assert.rejects(early, ({ code, extras }: MantelError) => {
    assert.equal(code, "invalid");
    assert.deepEqual(extras.errors, [{ pointer: "/end", detail: "end must be after start" }]);
    return true;
  });
  await assert.rejects(update("this", {}, "2026-06-15"), { code: "not_found" });
});

for (const [what, fields, shown] of [
  [
    "an hour",
    { start: { dateTime: "2026-06-01T09:00:00+02:00" } },
    "2026-06-01T09:00:00+02:00 to 2026-06-01T10:00:00+02:00",
  ],
  ["a day", { start: { date: "2026-06-01" } }, "2026-06-01 to 2026-06-02"],
  [
    "its own length and zone",
    {
      start: { dateTime: "2026-06-01T07:00:00Z", timeZone: "Asia/Tokyo" },
      end: { dateTime: "2026-06-01T09:30:00Z" },
    },
    "2026-06-01T16:00:00+09:00 to 2026-06-01T18:30:00+09:00",
  ],
] as const) {
  test(`a new event has ${what}, and other programs read it`, async () => {
    const event: NewCalendarEvent = { title: "Zoo; with \\ all,\nof us", ...fields };
    const { bytes } = newObject(event, CONTEXT);

    const { events, reason } = await expand(bytes);

    assert.equal(reason, undefined);
    assert.deepEqual(
      events.map(({ from, to, title }) => [`${from} to ${to}`, title]),
      [[shown, event.title]],
    );
    const parsed = new ICAL.Component(ICAL.parse(bytes.toString()) as unknown[]);
    assert.equal(
      new ICAL.Event(parsed.getFirstSubcomponent("vevent") ?? undefined).summary,
      event.title,
    );
  });
}

test("a new event that cannot be is refused with its field", () => {
  const start = { dateTime: "2026-06-01T09:00:00Z" };
  const refused = (fields: Partial<NewCalendarEvent>, pointer: string) =>
    assert.throws(
      () => newObject({ title: "x", start, ...fields }, CONTEXT),
      ({ code, extras }: { code: string; extras: { errors: { pointer: string }[] } }) =>
        code === "invalid" && extras.errors[0]?.pointer === pointer,
    );

  refused({ end: { date: "2026-06-02" } }, "/end");
  refused({ start: { ...start, timeZone: "Moon/Base" } }, "/start/timeZone");
  refused({ rrule: "FREQ=OFTEN" }, "/rrule");
});

test("an occurrence that was changed before takes part in a change of all that begins at it", async () => {
  const late = "2026-06-22T07:00:00Z";

  assert.deepEqual((await update("all", { title: "band" }, late)).shown, [
    "06-01T09:00 band",
    "06-15T09:00 band",
    "06-22T11:00 band",
    "06-29T09:00 band",
  ]);
  assert.deepEqual((await update("following", { title: "band" }, late)).shownAdded, [
    "06-22T11:00 band",
    "06-29T09:00 band",
  ]);
  const start = { dateTime: "2026-06-22T12:00:00+02:00" };
  assert.deepEqual((await update("all", { start }, late)).shown, [
    "06-01T10:00 choir",
    "06-15T10:00 choir",
    "06-22T10:00 choir",
    "06-29T10:00 choir",
  ]);
});

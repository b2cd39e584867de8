import assert from "node:assert/strict";
import { test } from "node:test";
import { UTC } from "../../../plugins/calendar/ics/zones.ts";
import { Source } from "../../../plugins/calendar/source.ts";

const card = (...lines: string[]) => ["BEGIN:VCARD", ...lines, "END:VCARD", ""].join("\r\n");

/** The birthdays of a year as `date title`, and the state of their source. */
async function birthdays(text: string, year = 2026) {
  const source = new Source({ id: "b", fallbackName: "b", floating: UTC });
  await source.read([Buffer.from(text)], new Date());
  const span = { from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1) };
  const expansion = await source.prepare(span);
  const { events } = expansion;
  const own = events.filter(({ id }) => id.slice(-10).startsWith(String(year)));
  const days = own.map(({ start, title }) => `${"date" in start ? start.date : "?"} ${title}`);
  const view = source.view(expansion);
  source.close();
  return { days: days.toSorted(), events: own, view };
}

const FORMS: [form: string, line: string, shown: string][] = [
  ["a date of version 3.0", "BDAY:1996-04-15", "2026-04-15 🎂 Ada (30)"],
  ["a date of version 4.0", "BDAY:19960415", "2026-04-15 🎂 Ada (30)"],
  ["a date with its type", "BDAY;VALUE=date:1996-04-15", "2026-04-15 🎂 Ada (30)"],
  ["a date with a time", "BDAY:1996-04-15T10:22:00Z", "2026-04-15 🎂 Ada (30)"],
  ["a date and time of version 4.0", "BDAY:19960415T102200-0800", "2026-04-15 🎂 Ada (30)"],
  ["a date as text", "BDAY;VALUE=text:1996-04-15", "2026-04-15 🎂 Ada (30)"],
  ["a day without a year", "BDAY:--0415", "2026-04-15 🎂 Ada"],
  ["a day without a year, with a hyphen", "BDAY:--04-15", "2026-04-15 🎂 Ada"],
  [
    "a year that is omitted as Apple does it",
    "BDAY;X-APPLE-OMIT-YEAR=1604:1604-04-15",
    "2026-04-15 🎂 Ada",
  ],
  ["a property in a group", "item1.BDAY:1996-04-15", "2026-04-15 🎂 Ada (30)"],
  ["a property in lower case", "bday:1996-04-15", "2026-04-15 🎂 Ada (30)"],
];

for (const [form, line, shown] of FORMS) {
  test(`${form} gives a birthday every year`, async () => {
    const { days, view } = await birthdays(card("VERSION:3.0", "FN:Ada", line));

    assert.deepEqual(days, [shown]);
    assert.deepEqual([view.status, view.error], ["ok", undefined]);
  });
}

test("a birthday on February 29 falls on the last of February in other years", async () => {
  const leap = card("FN:Ada", "BDAY:2000-02-29") + card("FN:Bob", "BDAY:--0229");

  assert.deepEqual((await birthdays(leap, 2027)).days, [
    "2027-02-28 🎂 Ada (27)",
    "2027-02-28 🎂 Bob",
  ]);
  assert.deepEqual((await birthdays(leap, 2028)).days, [
    "2028-02-29 🎂 Ada (28)",
    "2028-02-29 🎂 Bob",
  ]);
});

test("there are no birthdays before the birth, and the day of birth has no age", async () => {
  const text = card("FN:Ada", "BDAY:2026-04-15");

  assert.deepEqual((await birthdays(text, 2025)).days, []);
  assert.deepEqual((await birthdays(text, 2026)).days, ["2026-04-15 🎂 Ada"]);
});

test("texts, months and days that do not exist are counted and named, and harm no other", async () => {
  const { days, view } = await birthdays(
    [
      card("FN:A", "BDAY;VALUE=text:circa 1800"),
      card("FN:B", "BDAY:1985-04"),
      card("FN:C", "BDAY:1997-02-29"),
      card("FN:D", "BDAY:---15"),
      card("FN:E"),
      card("FN:F", "BDAY:"),
      card("FN:Ada", "BDAY:1996-04-15"),
    ].join(""),
  );

  assert.deepEqual(days, ["2026-04-15 🎂 Ada (30)"]);
  assert.equal(view.status, "ok");
  assert.equal(view.error, "4 events were skipped; the first because: circa 1800 is not a date");
});

for (const [where, mark] of [
  ["a file", ""],
  ["a file with a byte-order mark", "\ufeff"],
  ["a file that begins with empty lines", "\r\n \r\n"],
]) {
  test(`a contact truncated in ${where} is counted and named, and the others are read`, async () => {
    const ada = card("FN:Ada", "BDAY:1996-04-15");
    const bob = card("FN:Bob", "BDAY:1990-01-02").slice(0, -14);

    const { days, view } = await birthdays(`${mark}${ada}${bob}`);

    assert.deepEqual(days, ["2026-04-15 🎂 Ada (30)"]);
    assert.equal(
      view.error,
      "1 event was skipped; the first because: a contact ends in the middle: END:VCARD is missing",
    );
  });
}

test("a name is read in every vCard version, and built from its parts if missing", async () => {
  const { days } = await birthdays(
    [
      card(
        "VERSION:2.1",
        "FN;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:J=F6rg=",
        " Gr=FCn",
        "BDAY:19960107",
      ),
      card("VERSION:2.1", "N;QUOTED-PRINTABLE;CHARSET=UTF-8:M=C3=BCller;Eva", "BDAY:1996-01-02"),
      card("VERSION:3.0", "N:Lovelace;Ada;;;", "BDAY:1996-01-03"),
      card("VERSION:3.0", "FN:Smith\\, John\\; Jr.", "BDAY:1996-01-04"),
      card("VERSION:4.0", 'FN;X-A="a:b":Very', "  long", "BDAY:19960105"),
      card("VERSION:4.0", "ORG:Acme;Sales", "BDAY:19960106"),
    ].join(""),
  );

  assert.deepEqual(
    days.map((day) => day.slice(11)),
    [
      "🎂 Eva Müller (30)",
      "🎂 Ada Lovelace (30)",
      "🎂 Smith, John; Jr. (30)",
      "🎂 Very long (30)",
      "🎂 Acme (30)",
      "🎂 Jörg Grün (30)",
    ],
  );
});

test("a birthday is an all-day event that is marked as free and keeps its id", async () => {
  const text = card("UID:urn:uuid:1", "FN:Ada", "BDAY:1996-04-15");
  const [before] = (await birthdays(text)).events;
  const [after] = (await birthdays(text.replace("Ada", "Ada L."))).events;

  assert.deepEqual([before?.allDay, before?.busy], [true, false]);
  assert.deepEqual(before?.end, { date: "2026-04-16" });
  assert.equal(after?.id, before?.id);
});

test("too many birthdays are refused", async () => {
  const many = Array.from({ length: 5_001 }, (_, n) => card(`FN:${n}`, "BDAY:--0101")).join("");

  await assert.rejects(birthdays(many), { code: "invalid", message: /over 5000 birthdays/ });
});

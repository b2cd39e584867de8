import assert from "node:assert/strict";
import { test } from "node:test";
import { findZone, UTC } from "../../../plugins/calendar/ics/zones.ts";
import { parsePhrase } from "../../../plugins/calendar/phrase.ts";

const BERLIN = findZone("Europe/Berlin") ?? UTC;
/** A Friday, 14:00 in Berlin. */
const NOW = Date.parse("2026-11-20T13:00:00Z");

/** An event as `start to end title`, in local time; undefined without one. */
function said(phrase: string, locale = "en") {
  const event = parsePhrase(phrase, { locale, zone: BERLIN, now: NOW });
  if (!event) return undefined;
  const textOf = (bound: typeof event.start | undefined) => {
    if (!bound) return "";
    if ("date" in bound) return bound.date.slice(5);
    const at = Date.parse(bound.dateTime);
    return new Date(at + BERLIN.offsetAt(at)).toISOString().slice(5, 16);
  };
  const end = event.end ? ` to ${textOf(event.end)}` : "";
  return `${textOf(event.start)}${end} ${event.title}`;
}

for (const [locale, phrases] of Object.entries({
  en: {
    "Tomorrow 9 dentist": "11-21T09:00 Dentist",
    "dentist tomorrow at 9:30": "11-21T09:30 Dentist",
    "lunch with Bob next Tuesday at noon": "11-24T12:00 Lunch with Bob",
    "Monday 3pm-4:30pm team meeting": "11-23T15:00 to 11-23T16:30 Team meeting",
    "on 5 December market": "12-05 Market",
    "December 24th, 2026 at 6 pm church": "12-24T18:00 Church",
    "day after tomorrow zoo": "11-22 Zoo",
    "call mum at 8": "11-21T08:00 Call mum",
    "call mum at 18": "11-20T18:00 Call mum",
    "Friday 20:00 to 01:00 party": "11-27T20:00 to 11-28T01:00 Party",
  },
  de: {
    "Morgen 9 Zahnarzt": "11-21T09:00 Zahnarzt",
    "Morgen um 9 Uhr 5 Eier kaufen": "11-21T09:00 5 Eier kaufen",
    "am Dienstag von 10 bis 11:30 Uhr Friseur": "11-24T10:00 to 11-24T11:30 Friseur",
    "5. Dezember Markt": "12-05 Markt",
    "Elternabend 1.12. 19.30 Uhr": "12-01T19:30 Elternabend",
    "Übermorgen Oma besuchen": "11-22 Oma besuchen",
    "Tomorrow 9 dentist": "11-21T09:00 Dentist",
  },
  fr: {
    "Demain 9h dentiste": "11-21T09:00 Dentiste",
    "demain à 9h30 dentiste": "11-21T09:30 Dentiste",
    "mardi de 10 à 11 heures coiffeur": "11-24T10:00 to 11-24T11:00 Coiffeur",
    "le 5 décembre marché": "12-05 Marché",
  },
  es: {
    "Mañana 9 dentista": "11-21T09:00 Dentista",
    "dentista mañana a las 9:30": "11-21T09:30 Dentista",
    "el 5 de diciembre mercado": "12-05 Mercado",
    "martes a las 18 h cine": "11-24T18:00 Cine",
  },
  it: {
    "Domani 9 dentista": "11-21T09:00 Dentista",
    "dentista domani alle 9.30": "11-21T09:30 Dentista",
    "martedì dalle 10 alle 11 parrucchiere": "11-24T10:00 to 11-24T11:00 Parrucchiere",
    "5 dicembre mercato": "12-05 Mercato",
  },
})) {
  for (const [phrase, expected] of Object.entries(phrases)) {
    test(`${locale}: ${phrase}`, () => {
      assert.equal(said(phrase, locale), expected);
    });
  }
}

test("a phrase without a day and time, or without anything else, is not an event", () => {
  for (const phrase of [
    "",
    "milk",
    "tomorrow",
    "tomorrow at 9",
    "5 apples",
    "at 99 x",
    "31 February x",
  ]) {
    assert.equal(said(phrase), undefined, phrase);
  }
});

test("a long phrase is read in no time", () => {
  const startedAt = process.cpuUsage();

  said("am am am 1 ".repeat(2_000), "de");

  const { user } = process.cpuUsage(startedAt);
  assert.ok(user < 1_000_000, `${user} µs`);
});

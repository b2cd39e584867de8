import { translated, type Translation } from "../i18n/language.ts";

const english = {
  room: "Living room",
  lamp: "Sofa lamp",
  ceiling: "Ceiling",
  blinds: "Blinds",
  heating: "Heating",
  air: "Air",
  window: "Bath window",
  door: "Front door",
  player: "Speaker",
  song: "Slow Light",
  fan: "Fan",
  coffee: "Coffee",
  morning: "Morning",
  dinner: "Dinner",
  movie: "Movie",
  night: "Good night",
  family: "Family",
  choir: "Choir rehearsal",
  call: "Call with Grandma",
  swimming: "Swimming lesson",
  visit: "Dinner at Lena’s",
};

const german: Translation<typeof english> = {
  room: "Wohnzimmer",
  lamp: "Sofalampe",
  ceiling: "Decke",
  blinds: "Rollo",
  heating: "Heizung",
  air: "Luft",
  window: "Badfenster",
  door: "Haustür",
  player: "Lautsprecher",
  fan: "Ventilator",
  coffee: "Kaffee",
  morning: "Morgen",
  dinner: "Essen",
  movie: "Film",
  night: "Gute Nacht",
  family: "Familie",
  choir: "Chorprobe",
  call: "Anruf bei Oma",
  swimming: "Schwimmkurs",
  visit: "Essen bei Lena",
};

/** Names in the demo home of the previews. */
export const words = translated(english, { de: german });

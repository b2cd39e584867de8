import { translated, type Translation } from "../i18n/language.ts";

const english = {
  find: "Find",
  findHint: "Device, room, scene or setting",
  results: "Results",
  nothing: "Nothing with this name was found.",
  found: (count: number) => (count === 1 ? "1 result" : `${count} results`),
  room: "Room",
  group: "Group",
  scene: "Scene",
  page: "Page",
  settings: "Settings",
  activated: (name: string) => `${name} activated`,
  failed: (name: string) => `${name}: no answer`,
};

const german: Translation<typeof english> = {
  find: "Suchen",
  findHint: "Gerät, Raum, Szene oder Einstellung",
  results: "Ergebnisse",
  nothing: "Nichts hat das im Namen.",
  found: (count) => (count === 1 ? "1 Ergebnis" : `${count} Ergebnisse`),
  room: "Raum",
  group: "Gruppe",
  scene: "Szene",
  page: "Seite",
  settings: "Einstellungen",
  activated: (name) => `${name} aktiviert`,
  failed: (name) => `${name}: keine Antwort`,
};

/** Texts of the search on the dashboard. */
export const words = translated("find", english, { de: german });

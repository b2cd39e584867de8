import { translated, type Translation } from "../i18n/language.ts";

const english = {
  none: "None",
  unavailable: (id: string) => `${id} (not available)`,
  add: "Add",
  remove: (what: string) => `Remove ${what}`,
  item: (what: string, number: number) => `${what} ${number}`,
  secretIsSet: "Already set; type to replace it",
  unknownSettingsKept: "Unknown settings are kept.",
  discardUnknown: (key: string) => `Remove ${key}`,

  icons: "Icons",
  searchIcons: "Search, such as bath or music",
  noIcon: "No icon found",

  key: "ID",
  newEntry: "New entry",
  keyMissing: "An ID is required.",
  keyInvalid: (pattern: string) => `The ID must match ${pattern}.`,
  keyTaken: (key: string) => `${key} already exists.`,

  notOffered: (value: string) => `${value} is not one of the choices.`,
  notNumber: "This must be a number.",
  notInteger: "This must be a whole number.",
  notBoolean: (value: string) => `${value} is neither on nor off.`,
  notText: "This must be text.",
  notList: "This must be a list.",
  notGroup: "This must be a group of settings.",
  notJson: "This is not valid JSON.",
  atLeast: (least: number) => `This must be at least ${least}.`,
  atMost: (most: number) => `This must be at most ${most}.`,
  tooShort: (least: number) => `This must have at least ${least} characters.`,
  tooLong: (most: number) => `This must have at most ${most} characters.`,
  tooMany: (most: number) => `At most ${most} entries are allowed.`,
};

const german: Translation<typeof english> = {
  none: "Nichts",
  unavailable: (id) => `${id} (nicht verfügbar)`,
  add: "Hinzufügen",
  remove: (what) => `${what} entfernen`,
  item: (what, number) => `${what} ${number}`,
  secretIsSet: "Bereits gesetzt; zum Ersetzen neu eingeben",
  unknownSettingsKept: "Unbekannte Einstellungen bleiben erhalten.",
  discardUnknown: (key) => `${key} verwerfen`,

  icons: "Symbole",
  searchIcons: "Suche, etwa Bad oder Musik",
  noIcon: "Kein Symbol gefunden",

  key: "ID",
  newEntry: "Neuer Eintrag",
  keyMissing: "Eine ID ist erforderlich.",
  keyInvalid: (pattern) => `Die ID muss zu ${pattern} passen.`,
  keyTaken: (key) => `${key} gibt es bereits.`,

  notOffered: (value) => `${value} steht nicht zur Wahl.`,
  notNumber: "Dies muss eine Zahl sein.",
  notInteger: "Dies muss eine ganze Zahl sein.",
  notBoolean: (value) => `${value} ist weder an noch aus.`,
  notText: "Dies muss ein Text sein.",
  notList: "Dies muss eine Liste sein.",
  notGroup: "Dies muss eine Gruppe von Einstellungen sein.",
  notJson: "Dies ist kein gültiges JSON.",
  atLeast: (least) => `Dies muss mindestens ${least} sein.`,
  atMost: (most) => `Dies darf höchstens ${most} sein.`,
  tooShort: (least) => `Dies muss mindestens ${least} Zeichen haben.`,
  tooLong: (most) => `Dies darf höchstens ${most} Zeichen haben.`,
  tooMany: (most) => `Höchstens ${most} Einträge sind erlaubt.`,
};

/** Texts of the forms. */
export const words = translated("form", english, { de: german });

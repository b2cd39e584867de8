import { inEachLanguage, type Translation } from "../words/language.ts";

const english = {
  none: "None",
  gone: (id: string) => `${id} (not there now)`,
  add: "Add",
  remove: (what: string) => `Remove ${what}`,
  item: (what: string, number: number) => `${what} ${number}`,
  secretIsSet: "Is set; type to replace it",
  unknown: "Settings that are not known here are kept.",
  drop: (key: string) => `Drop ${key}`,

  key: "Id",
  newEntry: "New entry",
  keyMissing: "This needs an id.",
  badKey: (pattern: string) => `An id here has to fit ${pattern}.`,
  keyTaken: (key: string) => `There is ${key} already.`,

  notOffered: (value: string) => `${value} is not one of the choices.`,
  notNumber: "This has to be a number.",
  notWhole: "This has to be a whole number.",
  notSwitch: (value: string) => `${value} is neither on nor off.`,
  notText: "This has to be a text.",
  notList: "This has to be a list.",
  notGroup: "This has to be a group of settings.",
  notJson: "This is not JSON.",
  atLeast: (least: number) => `This has to be at least ${least}.`,
  atMost: (most: number) => `This has to be at most ${most}.`,
  tooShort: (least: number) => `This needs at least ${least} characters.`,
  tooLong: (most: number) => `This may have ${most} characters at most.`,
  tooMany: (most: number) => `There may be ${most} at most.`,
};

const german: Translation<typeof english> = {
  none: "Nichts",
  gone: (id) => `${id} (zurzeit nicht da)`,
  add: "Hinzufügen",
  remove: (what) => `${what} entfernen`,
  item: (what, number) => `${what} ${number}`,
  secretIsSet: "Ist gesetzt; tippen ersetzt es",
  unknown: "Einstellungen, die hier nicht bekannt sind, bleiben erhalten.",
  drop: (key) => `${key} verwerfen`,

  key: "Id",
  newEntry: "Neuer Eintrag",
  keyMissing: "Das braucht eine Id.",
  badKey: (pattern) => `Eine Id muss hier zu ${pattern} passen.`,
  keyTaken: (key) => `${key} gibt es schon.`,

  notOffered: (value) => `${value} steht nicht zur Wahl.`,
  notNumber: "Das muss eine Zahl sein.",
  notWhole: "Das muss eine ganze Zahl sein.",
  notSwitch: (value) => `${value} ist weder an noch aus.`,
  notText: "Das muss ein Text sein.",
  notList: "Das muss eine Liste sein.",
  notGroup: "Das muss eine Gruppe von Einstellungen sein.",
  notJson: "Das ist kein JSON.",
  atLeast: (least) => `Das muss mindestens ${least} sein.`,
  atMost: (most) => `Das darf höchstens ${most} sein.`,
  tooShort: (least) => `Das braucht mindestens ${least} Zeichen.`,
  tooLong: (most) => `Das darf höchstens ${most} Zeichen haben.`,
  tooMany: (most) => `Es dürfen höchstens ${most} sein.`,
};

/** What a form made from a schema says. */
export const words = inEachLanguage(english, { de: german });

import { inEachLanguage, type Translation } from "./language.ts";

const english = {
  pages: "Pages",
  house: "House",
  night: "Night",
  settings: "Settings",
  settingsAway: "Settings (they do not open now)",
  editLayout: "Edit the layout",
  editorAway: (reason: string) => `The editor does not open: ${reason}`,
  open: "{name} open",
  unlocked: "{name} unlocked",
  locked: "Locked",

  offlineFor: (span: string) => `Offline for ${span} · showing the last known state`,
  retryIn: (seconds: number) => `retry in ${seconds} s`,
  retrying: "trying …",

  leaveKiosk: "Leave kiosk mode",
  isKiosk: "This screen shows the house, and nothing else.",
  stay: "Stay",

  restart: "Restart",
  stopped: (reason: string) => `Stopped: ${reason}`,
  newCodeFailed: (reason: string) => `New code failed: ${reason}`,
  endlessLoop: "a loop does not come to an end",
  notInstalled: "It is not installed.",
  noWidget: "It has no widget.",

  showTroubles: (summary: string) => `Show what is wrong: ${summary}`,
  troubles: "What is wrong",
  needALook: (count: number) => `${count} modules need a look`,
  restsAfterCrashes: "crashed too often and rests",
  doesNotRun: "does not run",
  runsSettingsBefore: "runs with the settings before",
  runsCodeBefore: "runs the code before",
};

const german: Translation<typeof english> = {
  pages: "Seiten",
  house: "Haus",
  night: "Nacht",
  settings: "Einstellungen",
  settingsAway: "Einstellungen (gehen gerade nicht auf)",
  editLayout: "Layout bearbeiten",
  editorAway: (reason) => `Der Editor geht nicht auf: ${reason}`,
  open: "{name} offen",
  unlocked: "{name} entriegelt",
  locked: "Verriegelt",

  offlineFor: (span) => `Seit ${span} offline · zuletzt bekannter Stand`,
  retryIn: (seconds) => `neuer Versuch in ${seconds} s`,
  retrying: "Verbindung wird versucht …",

  leaveKiosk: "Kioskmodus verlassen",
  isKiosk: "Dieser Bildschirm zeigt das Haus und sonst nichts.",
  stay: "Bleiben",

  restart: "Neu starten",
  stopped: (reason) => `Angehalten: ${reason}`,
  newCodeFailed: (reason) => `Neuer Code geht nicht: ${reason}`,
  endlessLoop: "eine Schleife nimmt kein Ende",
  notInstalled: "Es ist nicht installiert.",
  noWidget: "Es hat kein Widget.",

  showTroubles: (summary) => `Zeigen, was nicht stimmt: ${summary}`,
  troubles: "Was nicht stimmt",
  needALook: (count) => `${count} Module brauchen einen Blick`,
  restsAfterCrashes: "ist zu oft abgestürzt und ruht",
  doesNotRun: "läuft nicht",
  runsSettingsBefore: "läuft mit den vorigen Einstellungen",
  runsCodeBefore: "läuft mit dem vorigen Code",
};

/** What the shell says: header, banner, tiles that have nothing to show, and troubles. */
export const words = inEachLanguage(english, { de: german });

import { inEachLanguage, type Translation } from "./language.ts";

const english = {
  pages: "Pages",
  house: "Home",
  night: "Night",
  settings: "Settings",
  settingsAway: "Settings (not available)",
  editLayout: "Edit the layout",
  editorAway: (reason: string) => `The editor cannot be opened: ${reason}`,
  open: "{name} open",
  unlocked: "{name} unlocked",
  locked: "Locked",

  offlineFor: (span: string) => `Offline for ${span} · showing the last known state`,
  retryIn: (seconds: number) => `retry in ${seconds} s`,
  retrying: "trying …",

  leaveKiosk: "Leave kiosk mode",
  isKiosk: "This screen shows only the dashboard.",
  stay: "Stay",

  restart: "Restart",
  stopped: (reason: string) => `Stopped: ${reason}`,
  newCodeFailed: (reason: string) => `New code failed: ${reason}`,
  endlessLoop: "infinite loop",
  notInstalled: "The module is not installed.",
  noWidget: "The module has no widget.",

  showTroubles: (summary: string) => `Show problems: ${summary}`,
  troubles: "Problems",
  needALook: (count: number) => `${count} modules need attention`,
  restsAfterCrashes: "crashed too often and was stopped",
  doesNotRun: "is not running",
  runsSettingsBefore: "runs with the previous settings",
  runsCodeBefore: "runs the previous version",
};

const german: Translation<typeof english> = {
  pages: "Seiten",
  house: "Zuhause",
  night: "Nacht",
  settings: "Einstellungen",
  settingsAway: "Einstellungen (nicht verfügbar)",
  editLayout: "Layout bearbeiten",
  editorAway: (reason) => `Der Editor lässt sich nicht öffnen: ${reason}`,
  open: "{name} offen",
  unlocked: "{name} entriegelt",
  locked: "Verriegelt",

  offlineFor: (span) => `Seit ${span} offline · zuletzt bekannter Stand`,
  retryIn: (seconds) => `neuer Versuch in ${seconds} s`,
  retrying: "neuer Versuch …",

  leaveKiosk: "Kioskmodus verlassen",
  isKiosk: "Dieser Bildschirm zeigt nur das Dashboard.",
  stay: "Bleiben",

  restart: "Neu starten",
  stopped: (reason) => `Angehalten: ${reason}`,
  newCodeFailed: (reason) => `Neuer Code fehlgeschlagen: ${reason}`,
  endlessLoop: "Endlosschleife",
  notInstalled: "Das Modul ist nicht installiert.",
  noWidget: "Das Modul hat kein Widget.",

  showTroubles: (summary) => `Probleme anzeigen: ${summary}`,
  troubles: "Probleme",
  needALook: (count) => `${count} Module brauchen Aufmerksamkeit`,
  restsAfterCrashes: "ist zu oft abgestürzt und wurde gestoppt",
  doesNotRun: "läuft nicht",
  runsSettingsBefore: "läuft mit den vorherigen Einstellungen",
  runsCodeBefore: "läuft mit der vorherigen Version",
};

/** Texts of the shell: header, banner, tile notices and problems. */
export const words = inEachLanguage(english, { de: german });

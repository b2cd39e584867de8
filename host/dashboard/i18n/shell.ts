import { inEachLanguage, type Translation } from "./language.ts";

const english = {
  pages: "Pages",
  homeStatus: "Home",
  night: "Night",
  settings: "Settings",
  settingsAway: "Settings (offline)",
  editLayout: "Edit the layout",
  editorAway: (reason: string) => `The editor did not open: ${reason}`,
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
  needALook: (count: number) => `${count} modules with problems`,
  restsAfterCrashes: "stopped after crashes",
  doesNotRun: "is not running",
  runsSettingsBefore: "runs with previous settings",
  runsCodeBefore: "runs the previous version",
};

const german: Translation<typeof english> = {
  pages: "Seiten",
  homeStatus: "Zuhause",
  night: "Nacht",
  settings: "Einstellungen",
  settingsAway: "Einstellungen (offline)",
  editLayout: "Layout bearbeiten",
  editorAway: (reason) => `Editor nicht geöffnet: ${reason}`,
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
  needALook: (count) => `${count} Module mit Problemen`,
  restsAfterCrashes: "nach Abstürzen gestoppt",
  doesNotRun: "läuft nicht",
  runsSettingsBefore: "läuft mit alten Einstellungen",
  runsCodeBefore: "läuft mit alter Version",
};

/** Texts of the shell: header, banner, tile notices and problems. */
export const words = inEachLanguage(english, { de: german });

import { translated, type Translation } from "./language.ts";

const english = {
  pages: "Pages",
  homeStatus: "Home",
  night: "Night",
  settings: "Settings",
  settingsOffline: "Settings (offline)",
  editLayout: "Edit the layout",
  editorFailed: (reason: string) => `The editor did not open: ${reason}`,
  lockOpen: "{name} open",
  unlocked: "{name} unlocked",
  locked: "Locked",

  offlineFor: (span: string) => `Offline for ${span} · showing the last known state`,
  retryIn: (seconds: number) => `retry in ${seconds} s`,
  retrying: "trying …",

  leaveKioskMode: "Leave kiosk mode",
  kioskNotice: "This screen shows only the dashboard.",
  stayInKioskMode: "Stay",

  restart: "Restart",
  stopped: (reason: string) => `Stopped: ${reason}`,
  newCodeFailed: (reason: string) => `New code failed: ${reason}`,
  endlessLoop: "infinite loop",
  notInstalled: "The module is not installed.",
  noWidget: "The module has no widget.",

  showProblems: (summary: string) => `Show problems: ${summary}`,
  problems: "Problems",
  modulesWithProblems: (count: number) => `${count} modules with problems`,
  stoppedAfterCrashes: "stopped after crashes",
  notRunning: "is not running",
  runsPreviousSettings: "runs with previous settings",
  runsPreviousVersion: "runs the previous version",
};

const german: Translation<typeof english> = {
  pages: "Seiten",
  homeStatus: "Zuhause",
  night: "Nacht",
  settings: "Einstellungen",
  settingsOffline: "Einstellungen (offline)",
  editLayout: "Layout bearbeiten",
  editorFailed: (reason) => `Editor nicht geöffnet: ${reason}`,
  lockOpen: "{name} offen",
  unlocked: "{name} entriegelt",
  locked: "Verriegelt",

  offlineFor: (span) => `Seit ${span} offline · zuletzt bekannter Stand`,
  retryIn: (seconds) => `neuer Versuch in ${seconds} s`,
  retrying: "neuer Versuch …",

  leaveKioskMode: "Kioskmodus verlassen",
  kioskNotice: "Dieser Bildschirm zeigt nur das Dashboard.",
  stayInKioskMode: "Bleiben",

  restart: "Neu starten",
  stopped: (reason) => `Angehalten: ${reason}`,
  newCodeFailed: (reason) => `Neuer Code fehlgeschlagen: ${reason}`,
  endlessLoop: "Endlosschleife",
  notInstalled: "Das Modul ist nicht installiert.",
  noWidget: "Das Modul hat kein Widget.",

  showProblems: (summary) => `Probleme anzeigen: ${summary}`,
  problems: "Probleme",
  modulesWithProblems: (count) => `${count} Module mit Problemen`,
  stoppedAfterCrashes: "nach Abstürzen gestoppt",
  notRunning: "läuft nicht",
  runsPreviousSettings: "läuft mit alten Einstellungen",
  runsPreviousVersion: "läuft mit alter Version",
};

/** Texts of the shell: header, banner, tile notices and problems. */
export const words = translated(english, { de: german });

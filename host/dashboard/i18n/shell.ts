import { translated, type Translation } from "./language.ts";

const english = {
  pages: "Pages",
  homeStatus: "Home",
  night: "Night",
  settings: "Settings",
  settingsOffline: "Settings (offline)",
  editLayout: "Edit the layout",
  editorFailed: (reason: string) => `The editor did not open: ${reason}`,
  detailsFailed: "The details did not open",
  lightsOn: (count: number) => (count === 1 ? "1 light on" : `${count} lights on`),
  lockOpen: "{name} open",
  unlocked: "{name} unlocked",
  locked: "Locked",

  offlineFor: (span: string) => `Offline for ${span} · showing the last known state`,
  retryIn: (seconds: number) => `retry in ${seconds} s`,
  retrying: "trying …",

  restart: "Restart",
  stopped: (reason: string) => `Stopped: ${reason}`,
  newCodeFailed: (reason: string) => `New code failed: ${reason}`,
  endlessLoop: "infinite loop",
  notInstalled: "The module is not installed.",
  noWidget: "The module has no widget.",
};

const german: Translation<typeof english> = {
  pages: "Seiten",
  homeStatus: "Zuhause",
  night: "Nacht",
  settings: "Einstellungen",
  settingsOffline: "Einstellungen (offline)",
  editLayout: "Layout bearbeiten",
  editorFailed: (reason) => `Editor nicht geöffnet: ${reason}`,
  detailsFailed: "Details nicht geöffnet",
  lightsOn: (count) => (count === 1 ? "1 Lampe an" : `${count} Lampen an`),
  lockOpen: "{name} offen",
  unlocked: "{name} entriegelt",
  locked: "Verriegelt",

  offlineFor: (span) => `Seit ${span} offline · zuletzt bekannter Stand`,
  retryIn: (seconds) => `neuer Versuch in ${seconds} s`,
  retrying: "neuer Versuch …",

  restart: "Neu starten",
  stopped: (reason) => `Angehalten: ${reason}`,
  newCodeFailed: (reason) => `Neuer Code fehlgeschlagen: ${reason}`,
  endlessLoop: "Endlosschleife",
  notInstalled: "Das Modul ist nicht installiert.",
  noWidget: "Das Modul hat kein Widget.",
};

/** Texts of the shell: header, banner and tile notices. */
export const words = translated(english, { de: german });

import { translated, type Translation } from "./language.ts";

const english = {
  find: "Find",
  settings: "Settings",
  automations: "Automations",
  logbook: "Logbook",
  offline: (page: string) => `${page} (offline)`,
  night: "Night",
  editLayout: "Edit the layout",
  editorFailed: (reason: string) => `The editor did not open: ${reason}`,
  lightsOn: (count: number) => (count === 1 ? "1 light on" : `${count} lights on`),
  lockOpen: "{name} open",
  unlocked: "{name} unlocked",
  locked: "Locked",
  offlineFor: (span: string) => `Offline for ${span} · showing the last known state`,
  savedHome: (at: string) => `Offline · the home as of ${at} · controls are off`,
  retryIn: (seconds: number) => `retry in ${seconds} s`,
  retrying: "trying …",
};

const german: Translation<typeof english> = {
  find: "Suchen",
  settings: "Einstellungen",
  automations: "Automationen",
  logbook: "Logbuch",
  offline: (page) => `${page} (offline)`,
  night: "Nacht",
  editLayout: "Layout bearbeiten",
  editorFailed: (reason) => `Editor nicht geöffnet: ${reason}`,
  lightsOn: (count) => (count === 1 ? "1 Lampe an" : `${count} Lampen an`),
  lockOpen: "{name} offen",
  unlocked: "{name} entriegelt",
  locked: "Verriegelt",
  offlineFor: (span) => `Seit ${span} offline · zuletzt bekannter Stand`,
  savedHome: (at) => `Offline · Stand vom ${at} · Bedienung gesperrt`,
  retryIn: (seconds) => `neuer Versuch in ${seconds} s`,
  retrying: "neuer Versuch …",
};

/** Texts of the parts of the shell that load after the first paint: links, chips, banner, night. */
export const words = translated("shell-later", english, { de: german });

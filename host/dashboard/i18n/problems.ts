import { translated, type Translation } from "./language.ts";

const english = {
  showProblems: (summary: string) => `Show problems: ${summary}`,
  problems: "Problems",
  modulesWithProblems: (count: number) => `${count} modules with problems`,
  stoppedAfterCrashes: "stopped after crashes",
  notRunning: "is not running",
  runsPreviousSettings: "runs with previous settings",
  runsPreviousVersion: "runs the previous version",
};

const german: Translation<typeof english> = {
  showProblems: (summary) => `Probleme anzeigen: ${summary}`,
  problems: "Probleme",
  modulesWithProblems: (count) => `${count} Module mit Problemen`,
  stoppedAfterCrashes: "nach Abstürzen gestoppt",
  notRunning: "läuft nicht",
  runsPreviousSettings: "läuft mit alten Einstellungen",
  runsPreviousVersion: "läuft mit alter Version",
};

/** Texts of the notice about modules with problems. */
export const words = translated("problems", english, { de: german });

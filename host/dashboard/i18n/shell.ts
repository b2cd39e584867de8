import { translated, type Translation } from "./language.ts";

const english = {
  pages: "Pages",
  homeStatus: "Home",
  detailsFailed: "The details did not open",

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
  detailsFailed: "Details nicht geöffnet",

  restart: "Neu starten",
  stopped: (reason) => `Angehalten: ${reason}`,
  newCodeFailed: (reason) => `Neuer Code fehlgeschlagen: ${reason}`,
  endlessLoop: "Endlosschleife",
  notInstalled: "Das Modul ist nicht installiert.",
  noWidget: "Das Modul hat kein Widget.",
};

/** Texts of the shell that the first paint may need: pages and tile notices. */
export const words = translated(english, { de: german });

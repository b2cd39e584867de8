import { kindOfHomeEntry } from "@mantel/plugin-sdk/home-permissions";
import {
  kindOfHost,
  isPath,
  type PermissionName,
  permissionWords as english,
  type PermissionWords,
} from "@mantel/plugin-sdk/permission-words";
import type { ModuleView } from "../../api/module.ts";
import { translated } from "../i18n/language.ts";

/** The permissions in German, phrased to follow "Es darf …". */
const german: PermissionWords = {
  server: "eigenen Code auf diesem Rechner ausführen",
  hosts: (host) => {
    const [kind, name] = kindOfHost(host);
    switch (kind) {
      case "all":
        return "sich mit jedem Rechner verbinden";
      case "below":
        return `sich mit jedem Rechner unter ${name} verbinden`;
      case "option":
        return `sich mit den Rechnern in seiner Option ${name} verbinden`;
      case "service":
        return `sich mit den Rechnern verbinden, die der Dienst ${name} nennt`;
      case "local":
        return "sich mit jedem Gerät im Heimnetz verbinden";
      case "socket":
        return `sich mit dem Programm hinter dem Socket ${name} verbinden`;
      case "host":
        return `sich mit ${name} verbinden`;
    }
  },
  openNetwork: (when) =>
    when === "setup"
      ? "beim Einrichten und Testen ein offenes Netz nutzen, das zu jedem Rechner führt"
      : "ein offenes Netz nutzen, das zu jedem Rechner führt",
  listen: "im Netz lauschen",
  folders: (folder) =>
    isPath(folder)
      ? `${folder} lesen`
      : `den Ordner ${folder} in den Daten des Hauses lesen und beschreiben`,
  childProcesses: "Programme starten, die alles dürfen, was der Benutzer von Mantel darf",
  workerThreads: "Threads starten, die alles dürfen, was der Benutzer von Mantel darf",
  nativeAddons: "nativen Code laden, der alles darf, was der Benutzer von Mantel darf",
  sqlite: "SQLite nutzen, das jede Datei des Benutzers von Mantel öffnen kann",
  homeReads: (entry) => {
    const [kind, name] = kindOfHomeEntry(entry);
    switch (kind) {
      case "all":
        return "jedes Gerät und jede Szene des Hauses lesen";
      case "calendar":
        return "die Kalender lesen";
      case "location":
        return "wissen, wo das Haus steht";
      case "scenes":
        return "jede Szene lesen";
      case "kind":
        return `jedes Gerät vom Typ ${name} lesen`;
      case "scene":
        return `die Szene ${name} lesen`;
      case "device":
        return `das Gerät ${name} lesen`;
    }
  },
  homeControls: (entry) => {
    const [kind, name] = kindOfHomeEntry(entry);
    if (kind === "all") return "jedes Gerät schalten und jede Szene aktivieren";
    if (kind === "scenes") return "jede Szene aktivieren";
    if (kind === "kind") return `jedes Gerät vom Typ ${name} schalten`;
    return kind === "scene" ? `die Szene ${name} aktivieren` : `das Gerät ${name} schalten`;
  },
  provides: (name) => `dem Haus ${name} anbieten`,
  paths: (path) =>
    path.endsWith("/*")
      ? `Anfragen an ${path.slice(0, -2)} der API und darunter mit eigenem Code beantworten`
      : `Anfragen an ${path} der API beantworten`,
  sources: (folder) => `den Code im Ordner ${folder} in den Daten des Hauses ausführen`,
  uses: (name) => (name.includes("/") ? `den Kanal ${name} lesen` : `den Dienst ${name} nutzen`),
  widgetSees: (what) => `seinem Widget dies zeigen: ${what}`,
  widgetCommands: (what) => `sein Widget dies schalten lassen: ${what}`,
  widgetReads: (name) => `sein Widget dies lesen lassen: ${name}`,
  widgetCalls: (name) => `seinem Widget den Dienst ${name} geben`,
  memoryMiB: (size) => `bis zu ${size} MiB Speicher belegen`,
  storageMiB: (size) => `bis zu ${size} MiB auf der Platte ablegen`,
  cpuPercent: (share) => `bis zu ${share} % eines Prozessors nutzen`,
};

const words = translated({ ...english }, { de: german });

/** The permissions that a module waits for, in the current language. */
export function neededPermissionTexts({
  needed,
  permissions,
}: NonNullable<ModuleView["consent"]>): string[] {
  const spoken = words.value;
  return permissions.map(({ name, value }, at) => {
    const phrase = Object.hasOwn(spoken, name) ? spoken[name as PermissionName] : needed[at];
    return typeof phrase === "function" ? phrase(value ?? "") : (phrase ?? name);
  });
}

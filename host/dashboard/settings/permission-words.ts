import {
  PERMISSION_TEXTS,
  type PermissionName,
  type PermissionTexts,
  permissionWordsIn,
} from "@mantel/plugin-sdk/permission-words";
import { computed } from "@preact/signals-core";
import type { ModuleView } from "../../api/module.ts";
import { translated } from "../i18n/language.ts";

/** The permissions in German, phrased to follow "Es darf …". */
const german: PermissionTexts = {
  server: "eigenen Code auf diesem Rechner ausführen",
  hostsAll: "sich mit jedem Rechner verbinden",
  hostsBelow: "sich mit jedem Rechner unter {name} verbinden",
  hostsOption: "sich mit den Rechnern in seiner Option {name} verbinden",
  hostsService: "sich mit den Rechnern verbinden, die der Dienst {name} nennt",
  hostsLocal: "sich mit jedem Gerät im Heimnetz verbinden",
  hostsSocket: "sich mit dem Programm hinter dem Socket {name} verbinden",
  hostsHost: "sich mit {name} verbinden",
  openNetworkSetup:
    "beim Einrichten und Testen ein offenes Netz nutzen, das zu jedem Rechner führt",
  openNetwork: "ein offenes Netz nutzen, das zu jedem Rechner führt",
  listen: "im Netz lauschen",
  foldersPath: "{name} lesen",
  foldersOwn: "den Ordner {name} in den Daten des Hauses lesen und beschreiben",
  childProcesses: "Programme starten, die alles dürfen, was der Benutzer von Mantel darf",
  workerThreads: "Threads starten, die alles dürfen, was der Benutzer von Mantel darf",
  nativeAddons: "nativen Code laden, der alles darf, was der Benutzer von Mantel darf",
  sqlite: "SQLite nutzen, das jede Datei des Benutzers von Mantel öffnen kann",
  readsAll: "jedes Gerät und jede Szene des Hauses lesen",
  readsCalendar: "die Kalender lesen",
  readsLocation: "wissen, wo das Haus steht",
  readsScenes: "jede Szene lesen",
  readsKind: "jedes Gerät vom Typ {name} lesen",
  readsScene: "die Szene {name} lesen",
  readsDevice: "das Gerät {name} lesen",
  controlsAll: "jedes Gerät schalten und jede Szene aktivieren",
  controlsScenes: "jede Szene aktivieren",
  controlsKind: "jedes Gerät vom Typ {name} schalten",
  controlsScene: "die Szene {name} aktivieren",
  controlsDevice: "das Gerät {name} schalten",
  provides: "dem Haus {name} anbieten",
  pathsBelow: "Anfragen an {name} der API und darunter mit eigenem Code beantworten",
  paths: "Anfragen an {name} der API beantworten",
  sources: "den Code im Ordner {name} in den Daten des Hauses ausführen",
  usesChannel: "den Kanal {name} lesen",
  usesService: "den Dienst {name} nutzen",
  widgetSees: "seinem Widget dies zeigen: {name}",
  widgetCommands: "sein Widget dies schalten lassen: {name}",
  widgetReads: "sein Widget dies lesen lassen: {name}",
  widgetCalls: "seinem Widget den Dienst {name} geben",
  memoryMiB: "bis zu {name} MiB Speicher belegen",
  storageMiB: "bis zu {name} MiB auf der Platte ablegen",
  cpuPercent: "bis zu {name} % eines Prozessors nutzen",
};

const texts = translated("permissions", PERMISSION_TEXTS, { de: german });
const words = computed(() => permissionWordsIn(texts.value));

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

import { type Translation, translated } from "../i18n/language.ts";

const english = {
  title: (name: string) => `Import from ${name}`,
  hint: (files: string) =>
    `Choose ${files}, or paste their content. Nothing is stored before you save.`,
  files: "Files",
  content: "Or their content",
  preview: "Preview",
  failed: (reason: string) => `The import failed: ${reason}`,
  counts: (whole: number, partial: number, none: number) =>
    `${whole} can be imported completely, ${partial} in part, ${none} not at all.`,
  devices: "Devices that were not found",
  device: (entity: string) => `Device for ${entity}`,
  noDevice: "none",
  whole: "whole",
  inPart: "in part",
  notAtAll: "not at all",
  script: "script",
  exists: "an automation with this name exists and is kept",
  isStored: "saved",
  partial: "Also save those that can be imported in part, without the rest and switched off",
  save: "Save",
  saved: (count: number) => `${count} automations are saved.`,
};

const german: Translation<typeof english> = {
  title: (name) => `Import aus ${name}`,
  hint: (files) =>
    `Wähle ${files}, oder füge ihren Inhalt ein. Gespeichert wird erst, wenn du es sagst.`,
  files: "Dateien",
  content: "Oder ihr Inhalt",
  preview: "Vorschau",
  failed: (reason) => `Der Import ist fehlgeschlagen: ${reason}`,
  counts: (whole, partial, none) => `${whole} passen ganz, ${partial} zum Teil, ${none} gar nicht.`,
  devices: "Geräte, die nicht gefunden wurden",
  device: (entity) => `Gerät für ${entity}`,
  noDevice: "keines",
  whole: "ganz",
  inPart: "zum Teil",
  notAtAll: "gar nicht",
  script: "Skript",
  exists: "eine Automation dieses Namens gibt es schon, und sie bleibt",
  isStored: "gespeichert",
  partial: "Auch die speichern, die zum Teil passen, ohne den Rest und ausgeschaltet",
  save: "Speichern",
  saved: (count) => `${count} Automationen sind gespeichert.`,
};

/** Texts of the import. */
export const words = translated("import", english, { de: german });

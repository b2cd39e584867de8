import { isDeepStrictEqual } from "node:util";
import { withDefaults } from "@mantel/plugin-sdk/defaults";
import type { Fault } from "@mantel/plugin-sdk/errors";
import { pointerToken } from "@mantel/plugin-sdk/validation-errors";
import { faultsOf, invalid } from "../validate.ts";
import type { ConfigKey, KeyTable, ConfigPath } from "./keys.ts";

/** Values by section and key, as they are stored. An absent key has its default. */
export type ConfigDocument = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Parses the content of a file. Keys of a plugin that has not registered its options are kept
 * unchecked.
 * @throws MantelError `invalid`, with every fault
 */
export function parseDocument(value: unknown, keys: KeyTable): ConfigDocument {
  const faults: Fault[] = [];
  if (!isObject(value)) {
    throw invalid("the config", [{ pointer: "", detail: "must be an object of sections" }]);
  }
  for (const [section, entries] of Object.entries(value)) {
    faults.push(...sectionFaults(section, entries, keys));
  }
  if (faults.length > 0) throw invalid("the config", faults);
  return mapEntries(value, (entries) => withoutNulls(entries as Record<string, unknown>));
}

function sectionFaults(section: string, entries: unknown, keys: KeyTable): Fault[] {
  const pointer = `/${pointerToken(section)}`;
  const mayGrow = keys.mayGrow(section);
  if (!keys.isKnownSection(section) && !mayGrow) return [{ pointer, detail: "is not a known key" }];
  if (!isObject(entries)) return [{ pointer, detail: "must be an object" }];
  return Object.entries(entries).flatMap(([key, value]) => {
    const known = keys.find(section, key);
    if (known) return value === null ? [] : keyFaults(known, value);
    return mayGrow
      ? []
      : [{ pointer: `${pointer}/${pointerToken(key)}`, detail: "is not a known key" }];
  });
}

/**
 * The faults of a value for a key, apart from absent parts that have a default. Pointers
 * start at the root of the config.
 */
export function keyFaults({ section, key, schema }: ConfigKey, value: unknown): Fault[] {
  const at = `/${pointerToken(section)}/${pointerToken(key)}`;
  return faultsOf(schema, withDefaults(schema, value)).map(({ pointer, detail }) => ({
    pointer: at + pointer,
    detail,
  }));
}

export function valueAt(document: ConfigDocument, { section, key }: ConfigPath): unknown {
  const entries = sectionOf(document, section);
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}

/** The keys of a section; empty if it is absent, even for names such as `__proto__`. */
export function sectionOf(document: ConfigDocument, section: string): ConfigDocument[string] {
  return (Object.hasOwn(document, section) ? document[section] : undefined) ?? {};
}

/** A copy with one value set, or removed by `undefined`. */
export function withValue(
  document: ConfigDocument,
  { section, key }: ConfigPath,
  value: unknown,
): ConfigDocument {
  const entries = new Map(Object.entries(document[section] ?? {}));
  if (value === undefined) entries.delete(key);
  else entries.set(key, value);
  const sections = new Map(Object.entries(document));
  if (entries.size === 0) sections.delete(section);
  else sections.set(section, Object.fromEntries(entries));
  return Object.fromEntries(sections);
}

/** Dotted keys whose values differ between two configs. */
export function changedKeys(before: ConfigDocument, after: ConfigDocument): string[] {
  const changed: string[] = [];
  for (const section of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old = {}, next = {}] = [before[section], after[section]];
    for (const key of new Set([...Object.keys(old), ...Object.keys(next)])) {
      if (!isDeepStrictEqual(old[key], next[key])) changed.push(`${section}.${key}`);
    }
  }
  return changed;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withoutNulls(entries: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== null));
}

function mapEntries<T, U>(
  object: Readonly<Record<string, T>>,
  change: (value: T) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

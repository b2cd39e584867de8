import { MantelError, type Fault } from "@mantel/plugin-sdk/errors";
import { pointerToken } from "@mantel/plugin-sdk/validation-errors";
import { invalid } from "../validate.ts";
import { type ConfigDocument, isObject, keyFaults, sectionOf, valueAt } from "./document.ts";
import { moveCredentialsFromUrl } from "./environment.ts";
import { type ConfigKey, type KeyTable, leftoverKey } from "./keys.ts";
import type { StoredValues } from "./values.ts";

/** The values that a patch is checked against. */
export interface PatchContext {
  readonly keys: KeyTable;
  /** The effective config, which the patch is merged into. */
  readonly current: ConfigDocument;
  /** The stored values; leftover keys among them may be removed. */
  readonly stored: StoredValues;
  /** Values from the environment, which no patch can change. */
  readonly environment: ConfigDocument;
  readonly admin: boolean;
}

/** A key and its new value; `undefined` means the default. */
export type Change = readonly [key: ConfigKey, value: unknown];

/**
 * The changes of a JSON Merge Patch (RFC 7396) of the config. Keys are looked up and never merged by
 * name, so that `__proto__` is an unknown key like any other.
 *
 * @throws MantelError `config_key_not_allowed` with the keys that need `admin`; `invalid` with every fault
 */
export function planPatch(patch: unknown, context: PatchContext): Change[] {
  const { parts, faults } = splitPatch(moveCredentialsFromUrl(patch), context);
  if (!context.admin) refuseOthers(parts);
  const changes: Change[] = [];
  for (const { known, pointer, value } of parts) {
    if (!known) {
      faults.push({ pointer, detail: "is not a known key" });
      continue;
    }
    const next = value === null ? undefined : mergePatch(valueAt(context.current, known), value);
    faults.push(...lockFaults(known, pointer, context.environment));
    if (next !== undefined) faults.push(...keyFaults(known, next));
    changes.push([known, next]);
  }
  if (faults.length > 0) throw invalid("the patch", faults);
  return changes;
}

/** The part of a patch for one key, which may be unknown. */
interface Part {
  readonly dotted: string;
  readonly pointer: string;
  readonly known: ConfigKey | undefined;
  readonly value: unknown;
}

function splitPatch(patch: unknown, context: PatchContext): { parts: Part[]; faults: Fault[] } {
  const parts: Part[] = [];
  const faults: Fault[] = [];
  if (!isObject(patch)) faults.push({ pointer: "", detail: "must be an object of sections" });
  for (const [section, entries] of Object.entries(isObject(patch) ? patch : {})) {
    const pointer = `/${pointerToken(section)}`;
    const stored = storedKeys(context.stored, section);
    if (!context.keys.isKnownSection(section) && stored.size === 0) {
      parts.push({ dotted: section, pointer, known: undefined, value: entries });
      continue;
    }
    if (entries !== null && !isObject(entries))
      faults.push({ pointer, detail: "must be an object" });
    const current = Object.keys(sectionOf(context.current, section));
    const replaced = isObject(entries) ? entries : allNull([...current, ...stored]);
    parts.push(...partsOf(section, replaced, { keys: context.keys, stored }));
  }
  return { parts, faults };
}

function partsOf(
  section: string,
  entries: Record<string, unknown>,
  { keys, stored }: { readonly keys: KeyTable; readonly stored: ReadonlySet<string> },
): Part[] {
  return Object.entries(entries).map(([key, value]) => {
    const isLeftover = value === null && stored.has(key);
    return {
      dotted: `${section}.${key}`,
      pointer: `/${pointerToken(section)}/${pointerToken(key)}`,
      known: keys.find(section, key) ?? (isLeftover ? leftoverKey({ section, key }) : undefined),
      value,
    };
  });
}

/** A patch that replaces a whole section, as `null` does, resets all its keys to their defaults. */
function allNull(keys: readonly string[]): Record<string, null> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}

function storedKeys({ plain, secret }: StoredValues, section: string): ReadonlySet<string> {
  return new Set([plain, secret].flatMap((document) => Object.keys(sectionOf(document, section))));
}

function refuseOthers(parts: readonly Part[]): void {
  const keys = parts.filter(({ known }) => known?.scope !== "edit").map(({ dotted }) => dotted);
  if (keys.length === 0) return;
  throw new MantelError(
    "config_key_not_allowed",
    `only the admin scope may change ${keys.join(", ")}`,
    { keys },
  );
}

function lockFaults(key: ConfigKey, pointer: string, environment: ConfigDocument): Fault[] {
  if (valueAt(environment, key) === undefined) return [];
  const by = key.variable === undefined ? "environment" : `environment variable ${key.variable}`;
  return [{ pointer, detail: `is set by the ${by}; change it there` }];
}

/** RFC 7396, section 2. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

import { MantelError } from "@mantel/plugin-sdk";
import type { Automations } from "../automations.ts";
import { type Converted, convertFiles } from "./convert.ts";
import { Entities, type EntityView, type ImportHome } from "./entities.ts";
import { readYaml } from "./read-yaml.ts";

const MOST_ENTITIES = 1_000;
const MOST_LINES = 2_000;

/** The body of a request for an import. */
export interface ImportRequest {
  /** One file, or several, such as the automations and the scripts that they call. */
  readonly yaml: string | readonly string[];
  /** The device, scene or calendar of an entity, by the entity's id. */
  readonly devices?: Readonly<Record<string, string>>;
  /** True to take automations without the parts that cannot be mapped, switched off. */
  readonly partial?: boolean;
  /** True to store the automations; otherwise nothing changes. */
  readonly store?: boolean;
}

/** One automation or script of an import. */
export interface ImportedView {
  readonly name: string;
  readonly kind: Converted["kind"];
  readonly result: Converted["result"];
  readonly reasons: readonly { readonly place: string; readonly detail: string }[];
  readonly notes: readonly string[];
  /** True if there is an automation of this name, which stays as it is. */
  readonly exists: boolean;
  /** The ids of the automations that were stored. */
  readonly stored: readonly string[];
}

export interface ImportAnswer {
  readonly automations: readonly ImportedView[];
  readonly entities: readonly EntityView[];
}

/**
 * Converts files of Home Assistant, and stores the result if the request says so: all of it, or nothing.
 * @throws MantelError `invalid` for a file that cannot be read, `conflict` for too many automations, `disk_full`
 */
export async function importAutomations(
  { yaml, devices, partial = false, store = false }: ImportRequest,
  home: ImportHome,
  automations: Pick<Automations, "list" | "create" | "remove">,
): Promise<ImportAnswer> {
  const texts = typeof yaml === "string" ? [yaml] : yaml;
  const files = [];
  for (const text of texts) files.push(await readYaml(text));
  const entities = new Entities(home, devices);
  const converted = await convertFiles(files, entities);
  const names = new Set(automations.list().map(({ name }) => name));
  const isWanted = (each: Converted) =>
    (each.result === "whole" || partial) && !each.documents.some(({ name }) => names.has(name));
  const stored = store ? await storeAll(converted.filter(isWanted), automations) : undefined;
  let lines = MOST_LINES;
  const views = converted.map((each) => {
    const reasons = each.reasons.slice(0, lines).map(({ place, detail }) => ({ place, detail }));
    lines -= reasons.length;
    return {
      ...{ name: each.name, kind: each.kind, result: each.result, reasons },
      notes: each.notes.slice(0, 10),
      exists: each.documents.some(({ name }) => names.has(name)),
      stored: stored?.get(each) ?? [],
    };
  });
  return { automations: views, entities: entities.list().slice(0, MOST_ENTITIES) };
}

/** Stores all documents. If one cannot be stored, those before it are removed again. */
async function storeAll(
  converted: readonly Converted[],
  automations: Pick<Automations, "create" | "remove">,
): Promise<Map<Converted, string[]>> {
  const stored = new Map<Converted, string[]>();
  try {
    for (const each of converted) {
      const ids: string[] = [];
      stored.set(each, ids);
      for (const document of each.documents) ids.push((await automations.create(document)).id);
    }
    return stored;
  } catch (error) {
    for (const id of [...stored.values()].flat()) await automations.remove(id);
    if (error instanceof MantelError) throw error;
    throw new Error("the imported automations could not be stored", { cause: error });
  }
}

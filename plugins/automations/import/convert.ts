import { setImmediate } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk";
import {
  type Action,
  type AutomationDocument,
  type Condition,
  type Mode,
  MODES,
  type Trigger,
} from "../engine/document.ts";
import { parseDocument } from "../parse-document.ts";
import { convertActions } from "./actions.ts";
import { convertConditions, isNever } from "./conditions.ts";
import { type Entities, slug } from "./entities.ts";
import { type Fields, isFields, isNo, listOf, type Reason, Scope } from "./scope.ts";
import { convertTriggers } from "./triggers.ts";

const MOST = 1_000;
const LONGEST_NAME = 200;
const LONGEST_DESCRIPTION = 2_000;
const MOST_REASONS = 20;
const LONGEST_REASON = 300;

/** One automation or script of the files. */
export interface Converted {
  readonly name: string;
  readonly kind: "automation" | "script";
  /** `whole`: all of it; `partial`: what remains would do something; `none`: nothing would remain. */
  readonly result: "whole" | "partial" | "none";
  readonly reasons: readonly Reason[];
  /** Small differences of what was mapped. */
  readonly notes: readonly string[];
  /** Several if its conditions ask which trigger has fired. Those of a partial one are switched off. */
  readonly documents: readonly AutomationDocument[];
}

interface Source {
  readonly kind: Converted["kind"];
  readonly name: string;
  readonly fields: unknown;
}

/**
 * Converts the automations and scripts of files.
 * @param files the data of each file: a list of automations, scripts by name, or a configuration with both
 * @throws MantelError `invalid` for files without either, and for too many
 */
export async function convertFiles(
  files: readonly unknown[],
  entities: Entities,
): Promise<Converted[]> {
  const sources = files.flatMap((file) => sourcesIn(file));
  if (sources.length === 0) {
    throw new MantelError(
      "invalid",
      "the file has no automations and no scripts of Home Assistant",
    );
  }
  if (sources.length > MOST) {
    const sentence = `the file has ${sources.length} automations; at most ${MOST} can be imported at once`;
    throw new MantelError("invalid", sentence);
  }
  // scripts and automations by the ids of their entities, because others call them
  const scripts = new Map(
    sources.map(({ kind, name, fields, key }) => [`${kind}.${key || slug(name)}`, fields] as const),
  );
  const converted: Converted[] = [];
  for (const source of sources) {
    await setImmediate(); // other work of the process gets its turn
    converted.push(convert(source, entities, scripts));
  }
  return converted;
}

function sourcesIn(file: unknown): (Source & { readonly key: string })[] {
  if (Array.isArray(file)) return file.filter((each) => each !== null).map(automationIn);
  if (!isFields(file)) return [];
  const sections = Object.entries(file).filter(([name]) => /^(automation|script)( |$)/.test(name));
  if (sections.length > 0) {
    return sections.flatMap(([name, value]) =>
      name.startsWith("automation") ? listOf(value).map(automationIn) : scriptsIn(value),
    );
  }
  // a file of one automation
  if (file["trigger"] !== undefined || file["triggers"] !== undefined)
    return [automationIn(file, 0)];
  return scriptsIn(file);
}

function automationIn(fields: unknown, index: number): Source & { key: string } {
  const { alias, id } = isFields(fields) ? fields : {};
  const given = [alias, id].find(
    (each): each is string => typeof each === "string" && each.trim() !== "",
  );
  return { kind: "automation", name: given ?? `Automation ${index + 1}`, fields, key: "" };
}

function scriptsIn(value: unknown): (Source & { key: string })[] {
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([key, fields]) => {
    if (!isFields(fields) || (fields["sequence"] === undefined && !fields["use_blueprint"]))
      return [];
    const { alias } = fields;
    const name = typeof alias === "string" && alias.trim() !== "" ? alias : key;
    return [{ kind: "script" as const, name, fields, key }];
  });
}

function convert(
  { kind, name: given, fields }: Source,
  entities: Entities,
  scripts: ReadonlyMap<string, unknown>,
): Converted {
  const name = given.trim().slice(0, LONGEST_NAME);
  const refuse = (detail: string): Converted => {
    const reasons = [{ place: kind, detail }];
    return { name, kind, result: "none", reasons, notes: [], documents: [] };
  };
  if (!isFields(fields)) return refuse("is not a map of fields");
  if (fields["use_blueprint"] !== undefined)
    return refuse("uses a blueprint, whose content is not in the file");
  const drafts = draftsOf(
    kind,
    name,
    fields,
    (triggerId) => new Scope(entities, scripts, triggerId),
  );
  const scopes = drafts.map(({ scope }) => scope);
  const reasons = scopes.flatMap((scope) => scope.reasons);
  const notes = new Set(scopes.flatMap((scope) => [...scope.notes]));
  if (given.trim().length > LONGEST_NAME) notes.add("the name was too long, and is cut");
  if (fields["max"] !== undefined) notes.add("“max” is left out: at most ten runs are active");
  const usable = drafts.filter((draft) => isUsable(kind, draft));
  const documents = usable.flatMap((draft) =>
    checked(documentOf(draft, fields, reasons.length === 0 ? [] : distinct(reasons)), reasons),
  );
  const known = distinct(reasons);
  if (documents.length === 0 && known.length === 0)
    known.push({ place: kind, detail: "has no actions" });
  const result = documents.length === 0 ? "none" : known.length === 0 ? "whole" : "partial";
  return {
    name,
    kind,
    result,
    reasons: known.slice(0, MOST_REASONS),
    notes: [...notes],
    documents,
  };
}

/** One document before it is checked. */
interface Draft {
  readonly name: string;
  readonly scope: Scope;
  readonly triggers: readonly Trigger[];
  readonly conditions: readonly Condition[];
  readonly actions: readonly Action[];
}

function draftsOf(
  kind: Converted["kind"],
  name: string,
  fields: Fields,
  newScope: (triggerId?: string) => Scope,
): Draft[] {
  const actionsIn = fields["actions"] ?? fields["action"] ?? fields["sequence"];
  const conditionsIn = fields["conditions"] ?? fields["condition"];
  const draft = (scope: Scope, triggers: readonly Trigger[], named = name): Draft => {
    const conditions = kind === "script" ? [] : convertConditions(conditionsIn, scope);
    const never = isNever(conditions);
    return {
      name: named,
      scope,
      triggers,
      conditions,
      actions: never ? [] : convertActions(actionsIn, scope),
    };
  };
  if (kind === "script") return [draft(newScope(), [])];
  const scope = newScope();
  const found = convertTriggers(fields["triggers"] ?? fields["trigger"], scope);
  if (found.length === 0 && scope.reasons.length === 0) {
    scope.reasons.push({ place: kind, detail: "has no triggers" });
  }
  if (!asksForTrigger([conditionsIn, actionsIn])) {
    return [
      draft(
        scope,
        found.map(({ trigger }) => trigger),
      ),
    ];
  }
  return byTrigger(found, scope, { fields, name, newScope, draft });
}

/** One draft for each trigger id, because a condition asks which trigger has fired. */
function byTrigger(
  found: ReturnType<typeof convertTriggers>,
  first: Scope,
  parts: {
    readonly fields: Fields;
    readonly name: string;
    readonly newScope: (triggerId?: string) => Scope;
    readonly draft: (scope: Scope, triggers: readonly Trigger[], named: string) => Draft;
  },
): Draft[] {
  const { fields, name, newScope, draft } = parts;
  const ids = [...new Set(found.map((each) => each.ids[0] ?? ""))];
  const drafts = ids.map((id) => {
    const scope = newScope(id);
    const triggers = found.flatMap(({ ids: [own], trigger }) => (own === id ? [trigger] : []));
    return draft(scope, triggers, ids.length > 1 ? `${name}: ${id}`.slice(0, LONGEST_NAME) : name);
  });
  const [one] = drafts;
  if (!one) return [draft(first, [], name)];
  one.scope.reasons.push(...first.reasons);
  for (const note of first.notes) one.scope.note(note);
  if (drafts.length > 1) {
    one.scope.note(`it became ${drafts.length} automations, one for each trigger`);
    const waits = drafts.some(({ actions }) => actions.some(isWaiting));
    if (waits && (fields["mode"] ?? "single") !== "parallel") {
      const detail =
        "its triggers end or hold back each other's runs, which several automations cannot do";
      one.scope.reasons.push({ place: "automation", detail });
    }
  }
  return drafts;
}

const isWaiting = (action: Action): boolean =>
  action.type === "wait" ||
  action.type === "waitFor" ||
  (action.type === "if" && [...action.then, ...(action.else ?? [])].some(isWaiting));

/** True if a condition anywhere in a value asks which trigger has fired. */
function asksForTrigger(value: unknown, depth = 0): boolean {
  if (depth > 60 || typeof value !== "object" || value === null) return false;
  if (isFields(value) && value["condition"] === "trigger") return true;
  return Object.values(value).some((each) => asksForTrigger(each, depth + 1));
}

function isUsable(kind: Converted["kind"], { triggers, conditions, actions }: Draft): boolean {
  return actions.length > 0 && !isNever(conditions) && (kind === "script" || triggers.length > 0);
}

function documentOf(
  { name, triggers, conditions, actions }: Draft,
  fields: Fields,
  reasons: readonly Reason[],
): AutomationDocument {
  const own = typeof fields["description"] === "string" ? fields["description"].trim() : "";
  const left = reasons.map(({ place, detail }) => `${place}: ${detail}`).join("\n");
  const missing = left === "" ? "" : `Imported without:\n${left}`;
  const description = [missing, own]
    .filter((each) => each !== "")
    .join("\n\n")
    .slice(0, LONGEST_DESCRIPTION);
  const mode = MODES.find((each): each is Mode => each === fields["mode"]) ?? "single";
  return {
    name,
    ...(description !== "" && { description }),
    enabled: reasons.length === 0 && !isNo(fields["initial_state"]),
    mode,
    triggers,
    conditions,
    actions,
  };
}

/** The document, if it is within the limits; else none, and a reason. */
function checked(document: AutomationDocument, reasons: Reason[]): AutomationDocument[] {
  try {
    return [parseDocument(document)];
  } catch (error) {
    if (!(error instanceof MantelError)) throw error;
    reasons.push({ place: "automation", detail: error.message });
    return [];
  }
}

function distinct(reasons: readonly Reason[]): Reason[] {
  const byText = new Map(
    reasons.map((reason) => [
      `${reason.place}: ${reason.detail}`,
      { ...reason, detail: reason.detail.slice(0, LONGEST_REASON) },
    ]),
  );
  return [...byText.values()];
}

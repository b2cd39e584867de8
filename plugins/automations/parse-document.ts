import { type Fault, MantelError } from "@mantel/plugin-sdk";
import { nextCronTime } from "@mantel/plugin-sdk/time";
import type { TSchema } from "typebox";
import { Errors } from "typebox/schema";
import {
  type Action,
  ACTIONS,
  type AutomationDocument,
  type Condition,
  CONDITIONS,
  GROUPS,
  LIMITS,
  MODES,
  type Trigger,
  TRIGGERS,
} from "./engine/document.ts";
import { isRecord } from "./engine/values.ts";

const LONGEST_NAME = 200;
const LONGEST_DESCRIPTION = 2_000;
const LONGEST_WAIT_MS = 366 * 24 * 60 * 60 * 1_000;

const FIELDS = ["name", "description", "enabled", "mode", "triggers", "conditions", "actions"];
/** Fields of a stored document, which a client may send back. */
const STORED_FIELDS = ["id", "kind", "revision"];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Checks a document, and fills in what is absent: it is enabled, has the mode `single` and no conditions.
 * @throws MantelError `invalid` with every fault
 */
export function parseDocument(value: unknown): AutomationDocument {
  const checker = new Checker();
  const document = checker.document(value);
  const [first] = checker.faults;
  if (!first) return document;
  const more = checker.faults.length > 1 ? `, and ${checker.faults.length - 1} more` : "";
  const sentence = `the automation is invalid: ${first.pointer || "the whole value"} ${first.detail}${more}`;
  throw new MantelError("invalid", sentence, { errors: checker.faults });
}

/** Collects the faults of one document. */
class Checker {
  readonly faults: Fault[] = [];
  #actions = 0;
  #conditions = 0;

  document(value: unknown): AutomationDocument {
    const fields = this.#fields(value);
    const { name, description, enabled = true, mode = "single" } = fields;
    this.#texts(name, description);
    if (typeof enabled !== "boolean") this.#add("/enabled", "must be true or false");
    if (!MODES.some((each) => each === mode)) this.#add("/mode", `must be ${listed(MODES)}`);
    const triggers = this.#triggerList(fields["triggers"] ?? []);
    this.#conditionList(fields["conditions"] ?? [], "/conditions", 1);
    this.#actionList(fields["actions"] ?? [], "/actions", 1);
    return {
      name,
      ...(description !== undefined && { description }),
      enabled,
      mode,
      triggers,
      conditions: fields["conditions"] ?? [],
      actions: fields["actions"] ?? [],
    } as AutomationDocument;
  }

  #fields(value: unknown): Fields {
    if (!isRecord(value)) {
      this.#add("", "must be an object");
      return {};
    }
    for (const name of Object.keys(value)) {
      if (![...FIELDS, ...STORED_FIELDS].includes(name)) {
        this.#add(`/${name}`, "is not a known field");
      }
    }
    return value;
  }

  #texts(name: unknown, description: unknown): void {
    if (typeof name !== "string" || name.trim() === "" || name.length > LONGEST_NAME) {
      this.#add("/name", `must be a text of 1 to ${LONGEST_NAME} characters`);
    }
    const isText = typeof description === "string" && description.length <= LONGEST_DESCRIPTION;
    if (description !== undefined && !isText) {
      this.#add("/description", `must be a text of at most ${LONGEST_DESCRIPTION} characters`);
    }
  }

  #triggerList(value: unknown): readonly unknown[] {
    const triggers = this.#list(value, "/triggers");
    if (triggers.length > LIMITS.triggers) {
      this.#add("/triggers", `has more than ${LIMITS.triggers}`);
    }
    for (const [at, each] of triggers.entries()) this.#trigger(each, `/triggers/${at}`);
    return triggers;
  }

  #trigger(value: unknown, pointer: string): void {
    this.#part(value, pointer, TRIGGERS);
    if (!isRecord(value) || value["type"] !== "cron") return;
    try {
      const next = nextCronTime(String(value["expression"]), Date.now(), "UTC");
      if (next === undefined) this.#add(`${pointer}/expression`, "never occurs");
    } catch (error) {
      this.#add(`${pointer}/expression`, (error as Error).message);
    }
  }

  #conditionList(value: unknown, pointer: string, depth: number): void {
    for (const [at, each] of this.#list(value, pointer).entries()) {
      if (++this.#conditions === LIMITS.conditions + 1) {
        this.#add(pointer, `has more than ${LIMITS.conditions} conditions on all levels`);
      }
      if (this.#conditions > LIMITS.conditions) return;
      this.#condition(each, `${pointer}/${at}`, depth);
    }
  }

  #condition(value: unknown, pointer: string, depth: number): void {
    const type = isRecord(value) ? value["type"] : undefined;
    if (!GROUPS.some((each) => each === type) || !isRecord(value)) {
      return this.#part(value, pointer, CONDITIONS, GROUPS);
    }
    this.#only(value, pointer, ["of"]);
    if (this.#isTooDeep(pointer, depth)) return;
    this.#conditionList(value["of"], `${pointer}/of`, depth + 1);
  }

  #actionList(value: unknown, pointer: string, depth: number): void {
    for (const [at, each] of this.#list(value, pointer).entries()) {
      if (++this.#actions === LIMITS.actions + 1) {
        this.#add(pointer, `has more than ${LIMITS.actions} actions on all levels`);
      }
      if (this.#actions > LIMITS.actions) return;
      this.#action(each, `${pointer}/${at}`, depth);
    }
  }

  #action(value: unknown, pointer: string, depth: number): void {
    const type = isRecord(value) ? value["type"] : undefined;
    if (isRecord(value) && type === "waitFor") {
      this.#only(value, pointer, ["trigger", "timeoutMs"]);
      this.#trigger(value["trigger"], `${pointer}/trigger`);
      const { timeoutMs } = value;
      const isTime = Number.isInteger(timeoutMs) && isWithin(timeoutMs, 0, LONGEST_WAIT_MS);
      if (!isTime) this.#add(`${pointer}/timeoutMs`, "must be a whole number of milliseconds");
    } else if (isRecord(value) && type === "if") {
      this.#only(value, pointer, ["conditions", "then", "else"]);
      if (this.#isTooDeep(pointer, depth)) return;
      this.#conditionList(value["conditions"], `${pointer}/conditions`, depth + 1);
      this.#actionList(value["then"], `${pointer}/then`, depth + 1);
      if (value["else"] !== undefined) {
        this.#actionList(value["else"], `${pointer}/else`, depth + 1);
      }
    } else {
      this.#part(value, pointer, ACTIONS, ["waitFor", "if"]);
      if (isRecord(value)) this.#together(value, pointer);
    }
  }

  /** Checks fields of an action that depend on each other. */
  #together({ type, name, ...fields }: Fields, pointer: string): void {
    const { ms, maxMs, set, add } = fields;
    if (type === "wait" && typeof maxMs === "number" && maxMs < Number(ms)) {
      this.#add(`${pointer}/maxMs`, "must not be less than ms");
    }
    if (type !== "variable" || name === "") return;
    if (set !== undefined && add !== undefined) {
      this.#add(`${pointer}/add`, "must be absent if there is set");
    } else if (set === undefined && add === undefined) {
      this.#add(`${pointer}/set`, "is missing; set or add is needed");
    }
  }

  /** Checks a part by the schema of its type. */
  #part(
    value: unknown,
    pointer: string,
    schemas: Readonly<Record<string, TSchema>>,
    others: readonly string[] = [],
  ): void {
    const schema = schemaOf(value, schemas);
    if (!schema) {
      return this.#add(
        `${pointer}/type`,
        `must be ${listed([...Object.keys(schemas), ...others])}`,
      );
    }
    const [isValid, errors] = Errors(schema, value);
    if (isValid) return;
    const ofForms = errors.filter(({ keyword }) => keyword === "anyOf");
    for (const { keyword, instancePath, message, params } of errors) {
      if (keyword === "boolean") continue; // an unknown field, which `additionalProperties` names
      const isOfForm = ofForms.some((form) => instancePath.startsWith(form.instancePath));
      if (isOfForm && keyword !== "anyOf") continue;
      const { requiredProperties = [], additionalProperties = [] } = params as {
        readonly requiredProperties?: readonly string[];
        readonly additionalProperties?: readonly string[];
      };
      const place = `${pointer}${instancePath}`;
      if (keyword === "required") {
        for (const name of requiredProperties) this.#add(`${place}/${name}`, "is missing");
      } else if (keyword === "additionalProperties") {
        for (const name of additionalProperties)
          this.#add(`${place}/${name}`, "is not a known field");
      } else if (keyword === "anyOf") this.#add(place, "has none of the allowed forms");
      else this.#add(place, message);
    }
  }

  #only(value: Fields, pointer: string, names: readonly string[]): void {
    for (const name of Object.keys(value)) {
      if (name !== "type" && !names.includes(name)) {
        this.#add(`${pointer}/${name}`, "is not a known field");
      }
    }
  }

  #isTooDeep(pointer: string, depth: number): boolean {
    if (depth < LIMITS.depth) return false;
    this.#add(pointer, `is more than ${LIMITS.depth} levels deep`);
    return true;
  }

  #list(value: unknown, pointer: string): readonly unknown[] {
    if (Array.isArray(value)) return value;
    this.#add(pointer, "must be a list");
    return [];
  }

  #add(pointer: string, detail: string): void {
    this.faults.push({ pointer, detail });
  }
}

function schemaOf(value: unknown, schemas: Readonly<Record<string, TSchema>>): TSchema | undefined {
  const type = isRecord(value) ? value["type"] : undefined;
  return typeof type === "string" && Object.hasOwn(schemas, type) ? schemas[type] : undefined;
}

const isWithin = (value: unknown, least: number, most: number) =>
  typeof value === "number" && value >= least && value <= most;

const listed = (words: readonly string[]) => `one of ${words.join(", ")}`;

/** All triggers, conditions and actions of an automation, also those inside others. */
export function partsOf(document: AutomationDocument): readonly (Trigger | Condition | Action)[] {
  const found: (Trigger | Condition | Action)[] = [];
  const visit = (part: Trigger | Condition | Action): void => {
    found.push(part);
    if ("trigger" in part) visit(part.trigger);
    if ("of" in part) part.of.forEach(visit);
    if ("then" in part) {
      [...part.conditions, ...part.then, ...(part.else ?? [])].forEach(visit);
    }
  };
  [...document.triggers, ...document.conditions, ...document.actions].forEach(visit);
  return found;
}

/** The ids of the devices that an automation names. */
export function devicesIn(document: AutomationDocument): ReadonlySet<string> {
  return new Set(partsOf(document).flatMap((part) => ("device" in part ? [part.device] : [])));
}

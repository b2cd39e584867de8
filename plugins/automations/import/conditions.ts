import type { Condition } from "../engine/document.ts";
import { anyoneHome, entitiesIn, limitsOf } from "./changes.ts";
import { matchOfType, stateOfType } from "./device-parts.ts";
import type { Match } from "./entities.ts";
import {
  clockOf,
  type Fields,
  fieldsOf,
  isFields,
  isNo,
  listOf,
  refuseFields,
  type Scope,
  textOf,
  Unmappable,
} from "./scope.ts";
import { attributeOf, meaningOf, modeOf } from "./states.ts";
import { daysOf } from "./triggers.ts";

type Convert = (fields: Fields, scope: Scope) => Condition;

const NOON = "12:00";
const NEVER: Condition = { type: "any", of: [] };
const ALWAYS: Condition = { type: "all", of: [] };

/**
 * The conditions, all of which have to be met. A condition that cannot be mapped leaves a reason and is left out.
 * @param place the beginning of the places in reasons
 */
export function convertConditions(value: unknown, scope: Scope, place = "condition"): Condition[] {
  return listOf(value).flatMap((each, index) => {
    const here = `${place} ${index + 1}`;
    if (isFields(each) && isNo(each["enabled"])) {
      scope.note(`${here} is switched off, and left out`);
      return [];
    }
    return scope
      .attempt(here, () => [convertCondition(each, scope)])
      .filter((condition) => condition !== ALWAYS);
  });
}

/** True for a condition that is never met, so that what depends on it never happens. */
export function isNever(conditions: readonly Condition[]): boolean {
  return conditions.includes(NEVER);
}

/** One condition. @throws Unmappable */
export function convertCondition(value: unknown, scope: Scope): Condition {
  if (typeof value === "string") return fromTemplate(value, scope);
  const fields = fieldsOf(value);
  const short = ["and", "or", "not"].find((name) => Object.hasOwn(fields, name));
  if (short !== undefined) return group(short, fields[short], scope);
  const kind = textOf(fields["condition"], "condition");
  const convert = Object.hasOwn(BY_KIND, kind) ? BY_KIND[kind] : undefined;
  if (convert) return convert(fields, scope);
  if (kind === "template") return fromTemplate(fields["value_template"], scope);
  throw new Unmappable(`conditions of the kind "${kind.slice(0, 50)}" have no counterpart`);
}

const QUOTED = `["']([^"']+)["']`;
const TEMPLATES = [
  new RegExp(`^(not )?is_state\\( ?${QUOTED} ?, ?${QUOTED} ?\\)$`),
  new RegExp(`^(not )?states\\( ?${QUOTED} ?\\) ?== ?${QUOTED}$`),
  new RegExp(`^(not )?states\\.([a-z_]+\\.[a-z0-9_]+)\\.state ?== ?${QUOTED}$`),
];

/** Templates that only compare one state. @throws Unmappable for all others */
function fromTemplate(value: unknown, scope: Scope): Condition {
  const [, inside = ""] =
    /^\{\{-?([^{}]*?)-?\}\}$/.exec(typeof value === "string" ? value.trim() : "") ?? [];
  const text = inside.trim().replaceAll(/\s+/g, " ");
  for (const form of TEMPLATES) {
    const [, not, entity, state] = form.exec(text) ?? [];
    if (entity === undefined || state === undefined) continue;
    const is = isIn(scope, entity.toLowerCase(), state);
    return not === undefined ? is : { type: "none", of: [is] };
  }
  throw new Unmappable("templates are not supported");
}

const BY_KIND: Readonly<Record<string, Convert>> = {
  state: stateCondition,
  numeric_state(fields, scope) {
    return allOf(
      entitiesIn(fields["entity_id"]).map((entity) => {
        if (entity === "zone.home")
          return { type: "presence", anyone: fields["above"] !== undefined };
        if (entity === "sun.sun") throw new Unmappable("the height of the sun has no counterpart");
        const match = scope.match(entity);
        return { type: "state", device: match.id, ...limitsOf(fields, match) };
      }),
    );
  },
  time: timeCondition,
  sun: sunCondition,
  zone(fields, scope) {
    const zone = textOf(fields["zone"], "zone");
    if (zone !== "zone.home")
      throw new Unmappable(`only zone.home has a counterpart, and not ${zone}`);
    return allOf(entitiesIn(fields["entity_id"]).map((entity) => isIn(scope, entity, "home")));
  },
  device: deviceCondition,
  trigger(fields, scope) {
    const ids = listOf(fields["id"]).map((id) => textOf(id, "id"));
    return ids.includes(scope.triggerId ?? "") ? ALWAYS : NEVER;
  },
  and: (fields, scope) => group("and", fields["conditions"], scope),
  or: (fields, scope) => group("or", fields["conditions"], scope),
  not: (fields, scope) => group("not", fields["conditions"], scope),
};

/** A group, without parts that are always or never met. */
function group(word: string, value: unknown, scope: Scope): Condition {
  const of = listOf(value).flatMap((each) =>
    isFields(each) && isNo(each["enabled"]) ? [] : [convertCondition(each, scope)],
  );
  if (word === "and") {
    return of.includes(NEVER) ? NEVER : allOf(of.filter((each) => each !== ALWAYS));
  }
  const rest = of.filter((each) => each !== NEVER);
  const isMet = of.includes(ALWAYS);
  if (word === "or") return isMet ? ALWAYS : rest.length === 0 ? NEVER : { type: "any", of: rest };
  return isMet ? NEVER : rest.length === 0 ? ALWAYS : { type: "none", of: rest };
}

function allOf(of: readonly Condition[]): Condition {
  const [only] = of;
  if (!only) return ALWAYS;
  return of.length === 1 ? only : { type: "all", of };
}

/** An entity in a state. @throws Unmappable */
function isIn(scope: Scope, entity: string, state: string): Condition {
  if (entity === "sun.sun") {
    if (state === "above_horizon") return { type: "sun", is: "up" };
    if (state === "below_horizon") return { type: "sun", is: "down" };
    throw new Unmappable(`the state "${state}" of sun.sun has no counterpart`);
  }
  const anyone = anyoneHome(entity, state);
  if (anyone !== undefined) return { type: "presence", anyone };
  const match = scope.match(entity);
  return isState(match, state);
}

function isState(match: Match, state: string): Condition {
  const { field, value, above } = meaningOf(match, state);
  const limit = above === undefined ? { equals: value } : { above };
  return { type: "state", device: match.id, field, ...limit } as Condition;
}

function stateCondition(fields: Fields, scope: Scope): Condition {
  if (fields["for"] !== undefined) throw new Unmappable(`"for" has no counterpart in a condition`);
  const entities = entitiesIn(fields["entity_id"]);
  const states = listOf(fields["state"]).map((state) => textOf(state, "state"));
  if (states.length === 0) throw new Unmappable(`"state" is missing`);
  const { attribute } = fields;
  const check = (entity: string, state: string): Condition => {
    if (/^(input_[a-z]+|sensor|binary_sensor)\.[a-z0-9_]+$/.test(state)) {
      throw new Unmappable(`"state" is the state of ${state}; only fixed states are supported`);
    }
    if (attribute === undefined) return isIn(scope, entity, state);
    const match = scope.match(entity);
    const { field } = attributeOf(match, textOf(attribute, "attribute"));
    const equals = state !== "" && Number.isFinite(Number(state)) ? Number(state) : state;
    return { type: "state", device: match.id, field, equals };
  };
  const each = entities.map((entity): Condition => {
    const any = states.map((state) => check(entity, state));
    const [only] = any;
    return only && any.length === 1 ? only : { type: "any", of: any };
  });
  if (fields["match"] === "any" && each.length > 1) return { type: "any", of: each };
  return allOf(each);
}

function timeCondition(fields: Fields): Condition {
  const clock = (name: "after" | "before") =>
    fields[name] === undefined || fields[name] === null
      ? {}
      : { [name]: clockOf(fields[name], name) };
  return { type: "time", ...clock("after"), ...clock("before"), ...daysOf(fields["weekday"]) };
}

/**
 * Home Assistant compares with the sunrise and the sunset of the day, so that the night has two halves: "after sunset" ends
 * at midnight, and "before sunrise" begins there. Both together are the whole night.
 */
function sunCondition(fields: Fields): Condition {
  refuseFields(fields, ["after_offset", "before_offset"]);
  const [after, before] = [fields["after"], fields["before"]].map((each) =>
    each === undefined || each === null ? undefined : textOf(each, "sun").toLowerCase(),
  );
  const evening: Condition = allOf([
    { type: "sun", is: "down" },
    { type: "time", after: NOON },
  ]);
  const morning: Condition = allOf([
    { type: "sun", is: "down" },
    { type: "time", before: NOON },
  ]);
  switch (`${after ?? ""} ${before ?? ""}`) {
    case "sunset sunrise":
      return { type: "sun", is: "down" };
    case "sunrise sunset":
      return { type: "sun", is: "up" };
    case "sunset ":
      return evening;
    case " sunrise":
      return morning;
    case "sunrise ":
      return { type: "none", of: [morning] };
    case " sunset":
      return { type: "none", of: [evening] };
    default:
      throw new Unmappable("this span of the sun has no counterpart");
  }
}

function deviceCondition(fields: Fields, scope: Scope): Condition {
  if (fields["for"] !== undefined) throw new Unmappable(`"for" has no counterpart in a condition`);
  const domain = textOf(fields["domain"] ?? "", "domain");
  const type = textOf(fields["type"] ?? "", "type");
  const match = matchOfType(scope, fields, type);
  if (type === "is_hvac_mode") {
    return isState(match, modeOf(textOf(fields["hvac_mode"], "hvac_mode")));
  }
  if (fields["above"] !== undefined || fields["below"] !== undefined) {
    return { type: "state", device: match.id, ...limitsOf(fields, match) };
  }
  const state = stateOfType(domain, type);
  if (state === undefined) {
    throw new Unmappable(`the device condition "${type}" has no counterpart`);
  }
  return isState(match, state);
}

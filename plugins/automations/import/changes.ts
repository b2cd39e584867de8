import type { Trigger } from "../engine/document.ts";
import type { Match } from "./entities.ts";
import { durationOf, type Fields, listOf, numberOf, textOf, Unmappable } from "./scope.ts";
import { attributeOf, mainField, type Meaning, meaningOf } from "./states.ts";

/** The entities that a part names: a list, or one text with commas. */
export function entitiesIn(value: unknown, name = "entity_id"): string[] {
  const all = listOf(value).flatMap((each) => textOf(each, name).split(","));
  const found = all.map((each) => each.trim().toLowerCase()).filter((each) => each !== "");
  if (found.length === 0) throw new Unmappable(`"${name}" is missing`);
  return found;
}

/** The fields of a state trigger that say what changes. */
type Values = { readonly field: string } & Pick<
  Extract<Trigger, { type: "state" }>,
  "to" | "from" | "above" | "below"
>;

/** A change to a state, from a state, or any change. @throws Unmappable */
export function changeOf(match: Match, to: string | undefined, from: string | undefined): Values {
  const [after, before] = [to, from].map((state) =>
    state === undefined ? undefined : meaningOf(match, state),
  );
  if (after && before && after.field !== before.field) {
    throw new Unmappable(
      `a change from "${from}" to "${to}" concerns two values of ${match.entity}`,
    );
  }
  if (after) {
    // a value above the limit comes from one that is not
    const hasFrom = before?.value !== undefined && after.above === undefined;
    if (before?.above !== undefined && after.value === undefined) {
      throw new Unmappable(`"from: ${from}" of ${match.entity} has no counterpart`);
    }
    return { ...valuesOf(after), ...(hasFrom && { from: before.value }) };
  }
  return before ? leaving(match, from, before) : { field: mainField(match) };
}

/** A change from a state to any other. */
function leaving(match: Match, from: string | undefined, { field, value, above }: Meaning): Values {
  if (typeof value === "boolean") return { field, to: !value };
  if (above === 0) return { field, to: 0 };
  if (value === undefined)
    throw new Unmappable(`"from: ${from}" of ${match.entity} has no counterpart`);
  return { field, from: value };
}

const valuesOf = ({ field, value, above }: Meaning): Values =>
  above === undefined ? ({ field, to: value } as Values) : { field, above };

/** The presence that a state of an entity means; `undefined` for other entities. */
export function anyoneHome(entity: string, state: string | undefined): boolean | undefined {
  if (entity === "zone.home") {
    if (state === "0") return false;
    throw new Unmappable(`the state "${state ?? ""}" of zone.home has no counterpart`);
  }
  // a group that is at home is one of people
  if (!entity.startsWith("group.") || (state !== "home" && state !== "not_home")) return undefined;
  return state === "home";
}

/** The time for which a state has to stay. @throws Unmappable */
export const forOf = (fields: Fields): { readonly forMs?: number } =>
  fields["for"] === undefined || fields["for"] === null
    ? {}
    : { forMs: durationOf(fields["for"], "for") };

/** Limits of a numeric trigger or condition with the field. @throws Unmappable */
export function limitsOf(
  fields: Fields,
  match: Match,
): { readonly field: string; readonly above?: number; readonly below?: number } {
  const attribute = attributeIn(fields);
  const { field, toOurs = (value: number) => value } =
    attribute === undefined ? { field: mainField(match) } : attributeOf(match, attribute);
  const limit = (name: "above" | "below") => {
    const value = fields[name];
    if (value === undefined || value === null) return {};
    if (typeof value === "string" && /^[a-z_]+\.[a-z0-9_]+$/i.test(value)) {
      throw new Unmappable(`"${name}" is the value of ${value}; only fixed numbers are supported`);
    }
    return { [name]: toOurs(numberOf(value, name)) };
  };
  return { field, ...limit("above"), ...limit("below") };
}

/** The attribute that a value template only reads, which older files have in place of `attribute`. */
function attributeIn(fields: Fields): string | undefined {
  const template = fields["value_template"];
  if (template === undefined) {
    const { attribute } = fields;
    return attribute === undefined ? undefined : textOf(attribute, "attribute");
  }
  const form =
    /^\{\{\s*state\.(state|attributes\.([a-z_]+))\s*(\|\s*(float|int)(\([\d.]*\))?\s*)?\}\}$/;
  const found = form.exec(typeof template === "string" ? template.trim() : "");
  if (!found) throw new Unmappable(`"value_template" is a template, which is not supported`);
  return found[2];
}

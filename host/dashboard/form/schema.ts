/** The JSON Schema of a value that a form can show. Unknown keywords are ignored. */
export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  /** `device`, `room`, `color`, `icon`, `lines`, `date`, `time`, `password` and the names of `NamedThing` have their own inputs. */
  readonly format?: string;
  /** Offers only devices of this kind, for the format `device`. */
  readonly deviceKind?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly FieldSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  /**
   * For an object with user-defined keys: the pattern of the keys, and the schema of the values.
   */
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
  readonly maxProperties?: number;
  /** A secret: the host stores it and never returns it. `{ set: true }` stands for a stored one. */
  readonly writeOnly?: boolean;
}

/** The schema with its titles and descriptions translated; a field without a title has its key in words. */
export function translatedSchema(schema: FieldSchema, say: (text: string) => string): FieldSchema {
  const within = (each: FieldSchema): FieldSchema => translatedSchema(each, say);
  const { title, description, items, anyOf, properties, patternProperties } = schema;
  return {
    ...schema,
    ...(title === undefined ? {} : { title: say(title) }),
    ...(description === undefined ? {} : { description: say(description) }),
    ...(items && { items: within(items) }),
    ...(anyOf && { anyOf: anyOf.map(within) }),
    ...(patternProperties && { patternProperties: mapped(patternProperties, within) }),
    ...(properties && {
      properties: mapped(properties, (each, key) => {
        const own = titleOf(key, each);
        const said = say(own);
        return said === own ? within(each) : { ...within(each), title: said };
      }),
    }),
  };
}

function mapped(
  fields: Readonly<Record<string, FieldSchema>>,
  change: (schema: FieldSchema, key: string) => FieldSchema,
): Record<string, FieldSchema> {
  return Object.fromEntries(Object.entries(fields).map(([key, each]) => [key, change(each, key)]));
}

export type Control =
  | "text"
  | "lines"
  | "date"
  | "time"
  | "secret"
  | "number"
  | "switch"
  | "choice"
  | "device"
  | "room"
  | "named"
  | "color"
  | "icon"
  | "choices"
  | "list"
  | "group"
  | "map"
  | "json";

/** The input type for a schema; JSON if no other type fits. */
export function controlOf(schema: FieldSchema): Control {
  if (schema.writeOnly === true || schema.format === "password") return "secret";
  if (choicesOf(schema)) return "choice";
  return typeof schema.type === "string" ? (CONTROLS[schema.type]?.(schema) ?? "json") : "json";
}

const CONTROLS: Readonly<Record<string, (schema: FieldSchema) => Control>> = {
  string: ({ format }) => stringControl(format),
  number: () => "number",
  integer: () => "number",
  boolean: () => "switch",
  array: ({ items, uniqueItems }) =>
    uniqueItems && items && choicesOf(items) ? "choices" : items ? "list" : "json",
  object: (schema) => (schema.properties ? "group" : entriesOf(schema) ? "map" : "json"),
};

function stringControl(format: string | undefined): Control {
  switch (format) {
    case "device":
    case "room":
    case "color":
    case "icon":
    case "lines":
    case "date":
    case "time":
      return format;
    case "field":
    case "kind":
    case "group":
    case "scene":
    case "calendar":
      return "named";
    default:
      return "text";
  }
}

/** The pattern of the keys of a map and the schema of its values, if one schema applies to all. */
export function entriesOf({
  patternProperties = {},
}: FieldSchema): { readonly pattern: RegExp; readonly schema: FieldSchema } | undefined {
  const [first, ...others] = Object.entries(patternProperties);
  if (!first || others.length > 0) return undefined;
  const [pattern, schema] = first;
  return { pattern: patternOf(pattern), schema };
}

/** A pattern that the browser cannot compile is checked by the host only. */
function patternOf(text: string): RegExp {
  try {
    return new RegExp(text, "u");
  } catch {
    return /^/;
  }
}

/** An allowed value and its label. */
interface Choice {
  readonly value: unknown;
  readonly name: string;
}

/** The allowed values, if the schema lists all of them. */
export function choicesOf({ enum: values, anyOf }: FieldSchema): readonly Choice[] | undefined {
  if (values) return values.map((value) => ({ value, name: String(value) }));
  const fixed = anyOf?.filter((each) => each.const !== undefined) ?? [];
  if (!anyOf || fixed.length !== anyOf.length) return undefined;
  return fixed.map(({ const: value, title }) => ({ value, name: title ?? String(value) }));
}

/** The initial value of a new list item. */
export function emptyValueOf(schema: FieldSchema): unknown {
  if (schema.default !== undefined) return structuredClone(schema.default);
  const [choice] = choicesOf(schema) ?? [];
  if (choice) return choice.value;
  const control = controlOf(schema);
  if (control === "number") return schema.minimum ?? 0;
  return control in EMPTY ? structuredClone(EMPTY[control]) : "";
}

const EMPTY: Readonly<Partial<Record<Control, unknown>>> = {
  switch: false,
  choices: [],
  list: [],
  group: {},
  map: {},
  json: null,
};

/** A copy without stored secrets, which belong to the previous entry. */
export function withoutSecrets(schema: FieldSchema, value: unknown): unknown {
  if (controlOf(schema) === "secret") return typeof value === "string" ? value : undefined;
  const { properties } = schema;
  if (typeof value !== "object" || value === null || !properties) return value;
  const entries = Object.entries(value).map(
    ([key, each]) => [key, withoutSecrets(properties[key] ?? {}, each)] as const,
  );
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}

/**
 * The title of the field or its items, or the key in words: `refreshSeconds` becomes `Refresh
 * seconds`.
 */
export function titleOf(key: string, { title, items }: FieldSchema): string {
  const own = title ?? items?.title ?? "";
  if (own !== "") return own;
  const spaced = key.replaceAll(/[-_]+/g, " ").replaceAll(/([a-z\d])([A-Z])/g, "$1 $2");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase();
}

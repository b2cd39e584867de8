/** The JSON Schema of a value that a form can show; keywords it does not know change nothing. */
export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  /** `device`, `room`, `color`, `icon`, `lines` and `password` have inputs of their own. */
  readonly format?: string;
  /** Only devices of this kind are offered, with the format `device`. */
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
  /** Of an object whose keys people choose: what a key is like, and the schema of its value. */
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
  readonly maxProperties?: number;
  /** A secret: the host takes it and never shows it; `{ set: true }` stands for one it has. */
  readonly writeOnly?: boolean;
}

export type Control =
  | "text"
  | "lines"
  | "secret"
  | "number"
  | "switch"
  | "choice"
  | "device"
  | "room"
  | "color"
  | "icon"
  | "choices"
  | "list"
  | "group"
  | "map"
  | "json";

/** Which input shows a value of this schema. What no input fits is shown as JSON. */
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
      return format;
    default:
      return "text";
  }
}

/** What the entries of a map are like, when one schema holds for all: the pattern of their keys, and it. */
export function entriesOf({
  patternProperties = {},
}: FieldSchema): { readonly pattern: RegExp; readonly schema: FieldSchema } | undefined {
  const [first, ...others] = Object.entries(patternProperties);
  if (!first || others.length > 0) return undefined;
  const [pattern, schema] = first;
  return { pattern: patternOf(pattern), schema };
}

/** What only the host can read is left to the host. */
function patternOf(text: string): RegExp {
  try {
    return new RegExp(text, "u");
  } catch {
    return /^/;
  }
}

/** A value that a schema allows, and what it is called. */
interface Choice {
  readonly value: unknown;
  readonly name: string;
}

/** The values that are allowed, when the schema names each of them. */
export function choicesOf({ enum: values, anyOf }: FieldSchema): readonly Choice[] | undefined {
  if (values) return values.map((value) => ({ value, name: String(value) }));
  const fixed = anyOf?.filter((each) => each.const !== undefined) ?? [];
  if (!anyOf || fixed.length !== anyOf.length) return undefined;
  return fixed.map(({ const: value, title }) => ({ value, name: title ?? String(value) }));
}

/** A value for a new item of a list. */
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

/** A copy without the secrets that only the host has: they belong to where it was. */
export function withoutSecrets(schema: FieldSchema, value: unknown): unknown {
  if (controlOf(schema) === "secret") return typeof value === "string" ? value : undefined;
  const { properties } = schema;
  if (typeof value !== "object" || value === null || !properties) return value;
  const kept = Object.entries(value).map(
    ([key, each]) => [key, withoutSecrets(properties[key] ?? {}, each)] as const,
  );
  return Object.fromEntries(kept.filter(([, each]) => each !== undefined));
}

/** The title, that of its items, or `refreshSeconds` as people write it: `Refresh seconds`. */
export function titleOf(key: string, { title, items }: FieldSchema): string {
  const own = title ?? items?.title ?? "";
  if (own !== "") return own;
  const spaced = key.replaceAll(/[-_]+/g, " ").replaceAll(/([a-z\d])([A-Z])/g, "$1 $2");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase();
}

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
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
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
  | "list"
  | "group"
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
  array: ({ items }) => (items ? "list" : "json"),
  object: ({ properties }) => (properties ? "group" : "json"),
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

/** The values that are allowed, when the schema names each of them. */
export function choicesOf({ enum: values, anyOf }: FieldSchema): readonly unknown[] | undefined {
  if (values) return values;
  const fixed = anyOf?.filter((each) => each.const !== undefined) ?? [];
  return anyOf && fixed.length === anyOf.length ? fixed.map((each) => each.const) : undefined;
}

/** A value for a new item of a list. */
export function emptyValueOf(schema: FieldSchema): unknown {
  if (schema.default !== undefined) return structuredClone(schema.default);
  const [choice] = choicesOf(schema) ?? [];
  if (choice !== undefined) return choice;
  switch (controlOf(schema)) {
    case "number":
      return schema.minimum ?? 0;
    case "switch":
      return false;
    case "list":
      return [];
    case "group":
      return {};
    case "json":
      return null;
    default:
      return "";
  }
}

/** The title, that of its items, or `refreshSeconds` as people write it: `Refresh seconds`. */
export function titleOf(key: string, { title, items }: FieldSchema): string {
  const own = title ?? items?.title ?? "";
  if (own !== "") return own;
  const spaced = key.replaceAll(/[-_]+/g, " ").replaceAll(/([a-z\d])([A-Z])/g, "$1 $2");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase();
}

import type { Settings } from "./widget-settings.ts";

/** The keywords of a setting's JSON Schema that decide on its value. */
interface SettingSchema {
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly SettingSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: SettingSchema;
}

type Values = Readonly<Record<string, unknown>>;

/** The value of each setting in a tile's config. Absent and invalid values become the setting's default. */
export function valuesOf(settings: Settings, config: Values): Values {
  return Object.fromEntries(
    Object.entries<SettingSchema>(settings).map(([name, schema]) => [
      name,
      valueOf(schema, config[name]),
    ]),
  );
}

/** Invalid items of a list are dropped. */
function valueOf(schema: SettingSchema, value: unknown): unknown {
  const { items, maxItems } = schema;
  if (items && Array.isArray(value)) {
    return value.filter((each) => isValid(items, each)).slice(0, maxItems);
  }
  if (isValid(schema, value)) return value;
  const { default: standard, type, minimum = 0 } = schema;
  if (standard !== undefined) return standard;
  return choicesOf(schema)?.[0] ?? EMPTY[type as string] ?? minimum;
}

const EMPTY: Values = { string: "", boolean: false, array: [] };

function isValid(schema: SettingSchema, value: unknown): boolean {
  const { type, minimum = -Infinity, maximum = Infinity, minLength, maxLength } = schema;
  const choices = choicesOf(schema);
  if (choices) return choices.includes(value);
  if (type === "integer" ? !Number.isInteger(value) : typeof value !== type) return false;
  if (typeof value === "number") return minimum <= value && value <= maximum;
  const { length } = value as string; // not of a boolean, where each comparison is false
  return !(length < (minLength ?? 0) || length > (maxLength ?? Infinity));
}

/** Without the labels of the form, whose code is loaded later. */
function choicesOf({ enum: values, anyOf }: SettingSchema): readonly unknown[] | undefined {
  return values ?? anyOf?.map((choice) => choice.const);
}

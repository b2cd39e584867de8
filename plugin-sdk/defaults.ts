import type { TSchema } from "typebox";

/**
 * A copy of a value in which absent properties have the `default` of their schema. Required
 * objects that are absent are made from the defaults inside them. Does not validate.
 */
export function withDefaults(schema: TSchema, value: unknown): unknown {
  const { properties, items, required } = schema as ObjectLike;
  if (Array.isArray(value)) {
    return items ? value.map((item) => withDefaults(items, item)) : structuredClone(value);
  }
  if (typeof value !== "object" || value === null) return value;
  const filled = new Map<string, unknown>(Object.entries(value));
  for (const [key, child] of Object.entries(properties ?? {})) {
    const start = filled.has(key) ? filled.get(key) : startOf(child, required?.includes(key));
    if (start !== undefined) filled.set(key, withDefaults(child, start));
  }
  return Object.fromEntries(filled);
}

interface ObjectLike {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly required?: readonly string[];
}

function startOf(schema: TSchema, required = false): unknown {
  const { default: fallback, type } = schema as { default?: unknown; type?: unknown };
  if (fallback !== undefined) return structuredClone(fallback);
  return required && type === "object" ? {} : undefined;
}

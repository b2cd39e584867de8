import type { TSchema } from "typebox";

/**
 * True if some part of the value that a schema describes is write-only. A reference counts as a
 * secret, because it is not followed.
 */
export function holdsSecret(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  if ((schema as { writeOnly?: unknown }).writeOnly === true) return true;
  return Object.entries(schema).some(
    ([keyword, part]) => /^\$\w*ref$/i.test(keyword) || holdsSecret(part),
  );
}

/** Replaces a secret; shows only if there is one. */
export interface WithheldSecret {
  readonly set: boolean;
}

/**
 * A value as readers may see it: write-only parts are replaced by `{set: true}`. If a secret
 * is inside a construct that is not followed, the whole value is withheld. An empty text is not set.
 */
export function withoutSecrets(schema: TSchema, value: unknown): unknown {
  if (!holdsSecret(schema)) return value;
  const { writeOnly, properties, items } = schema as ObjectLike;
  const entries = entrySchema(schema);
  if (!writeOnly && items && Array.isArray(value)) {
    return value.map((item) => withoutSecrets(items, item));
  }
  if (!writeOnly && isPlainObject(value)) {
    if (properties) return mapped(shownProperties(properties, value), value);
    if (entries)
      return mapped(
        Object.keys(value).map((key) => [key, entries] as const),
        value,
      );
  }
  return { set: value !== undefined && value !== "" } satisfies WithheldSecret;
}

interface ObjectLike {
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

/** The schema of all entries of a record; `undefined` for other schemas. */
function entrySchema(schema: TSchema): TSchema | undefined {
  const { properties, patternProperties = {} } = schema as ObjectLike;
  const [first, ...others] = Object.values(patternProperties);
  return properties || others.length > 0 ? undefined : first;
}

/** Those that there are, and absent secrets. An absent object with secrets in it is absent. */
function shownProperties(properties: Readonly<Record<string, TSchema>>, value: object) {
  return Object.entries(properties).filter(
    ([key, part]) => Object.hasOwn(value, key) || (holdsSecret(part) && !isGroup(part)),
  );
}

const isGroup = (schema: TSchema) => (schema as ObjectLike).properties !== undefined;

function mapped(
  parts: readonly (readonly [key: string, schema: TSchema])[],
  value: Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(
    parts.map(([key, part]) => [key, withoutSecrets(part, ownValue(value, key))]),
  );
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function ownValue(from: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(from, key) ? from[key] : undefined;
}

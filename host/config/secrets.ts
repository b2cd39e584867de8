import type { TSchema } from "typebox";

/**
 * True when some part of the value that a schema describes is write-only. A reference counts as a
 * secret, because what it leads to is not followed.
 */
export function holdsSecret(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  if ((schema as { writeOnly?: unknown }).writeOnly === true) return true;
  return Object.entries(schema).some(
    ([keyword, part]) => /^\$\w*ref$/i.test(keyword) || holdsSecret(part),
  );
}

/** Says of a secret only whether there is one. */
export interface Withheld {
  readonly set: boolean;
}

/**
 * A value as readers may see it: write-only parts are replaced by `{set: true}`. Where a secret
 * hides in a construction that is not followed, the whole of it is withheld.
 */
export function withoutSecrets(schema: TSchema, value: unknown): unknown {
  if (!holdsSecret(schema)) return value;
  const { writeOnly, properties, items } = schema as {
    writeOnly?: boolean;
    properties?: Readonly<Record<string, TSchema>>;
    items?: TSchema;
  };
  if (!writeOnly && items && Array.isArray(value)) {
    return value.map((item) => withoutSecrets(items, item));
  }
  if (!writeOnly && properties && isPlainObject(value)) {
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([key, part]) => Object.hasOwn(value, key) || holdsSecret(part))
        .map(([key, part]) => [key, withoutSecrets(part, ownValue(value, key))]),
    );
  }
  return { set: value !== undefined } satisfies Withheld;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function ownValue(from: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(from, key) ? from[key] : undefined;
}

import { MantelError } from "@mantel/plugin-sdk/errors";
import { hashPassword, isPasswordHash } from "@mantel/plugin-sdk/password-hash";
import type { TSchema } from "typebox";

/** Each takes about 50 ms of one CPU. */
const MOST_AT_ONCE = 100;

interface SchemaParts {
  readonly "x-stored-as"?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

/**
 * A value with its passwords hashed: the texts whose schema has `"x-stored-as": "scrypt"`.
 * Existing hashes stay.
 *
 * @throws MantelError `invalid` for more than 100 passwords
 */
export async function withPasswordHashes(schema: TSchema, value: unknown): Promise<unknown> {
  const passwords: string[] = [];
  mapPasswords(schema, value, (password) => {
    passwords.push(password);
    return password;
  });
  if (passwords.length === 0) return value;
  if (passwords.length > MOST_AT_ONCE) {
    throw new MantelError(
      "invalid",
      `too many passwords: at most ${MOST_AT_ONCE} can be set at once`,
    );
  }
  const hashes: string[] = [];
  for (const password of passwords) hashes.push(await hashPassword(password));
  return mapPasswords(schema, value, (password) => hashes.shift() ?? password); // in the same order
}

function mapPasswords(
  schema: TSchema | undefined,
  value: unknown,
  map: (password: string) => string,
): unknown {
  const parts: SchemaParts = schema ?? {};
  if (typeof value === "string") {
    return parts["x-stored-as"] === "scrypt" && !isPasswordHash(value) ? map(value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => mapPasswords(parts.items, item, map));
  if (typeof value !== "object" || value === null) return value;
  const [entries] = Object.values(parts.patternProperties ?? {});
  const schemaOf = (key: string) =>
    parts.properties && Object.hasOwn(parts.properties, key) ? parts.properties[key] : entries;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, mapPasswords(schemaOf(key), part, map)]),
  );
}

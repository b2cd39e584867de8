import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ValueOf } from "@mantel/plugin-sdk/schema";
import { type Static, type TSchema, Type } from "typebox";
import { check } from "../validate.ts";

/** A language or locale as the name of a pack: `fr`, `pt-BR`, `zh-Hant`. */
export const LANGUAGE = "^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$";
/** The largest pack, in bytes. */
const LARGEST = 2 ** 20;

const Key = Type.String({ minLength: 1, maxLength: 1_000 });
/** Translations by key or by English text. They are shown as text only, never as HTML. */
export const Texts = Type.Record(Key, Type.String({ maxLength: 4_000 }));

/** The translations of the dashboard by table and key, and of the SDK's texts for devices. */
export const LanguagePack = Type.Object({
  /** The language in its own words, such as “Français”. */
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
  dashboard: Type.Optional(Type.Record(Key, Texts)),
  vocabulary: Type.Optional(Texts),
  /** By plugin, then by English text. */
  plugins: Type.Optional(Type.Record(Key, Texts)),
});
export type LanguagePack = Static<typeof LanguagePack>;
export type Texts = Static<typeof Texts>;

/**
 * Reads a JSON file of a folder. Follows no link, neither of the file nor of the folder `below`.
 * @returns `undefined` if it does not exist
 * @throws MantelError `invalid` if it is too large, a link, or does not fit the schema
 */
export async function readTexts<T extends TSchema>(
  schema: T,
  folder: string,
  name: string,
): Promise<ValueOf<T> | undefined> {
  const path = join(folder, name);
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(unlessAbsent);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const isInside = (await realpath(path)) === join(await realpath(folder), name);
    if (size > LARGEST || !isInside) {
      throw new MantelError("invalid", `${name} is a link or larger than ${LARGEST} bytes`);
    }
    return check(schema, parsed(await file.readFile("utf8"), name), name);
  } finally {
    await file.close();
  }
}

/** The message quotes nothing of the file, because some answers are public. */
function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new MantelError("invalid", `${name} is not JSON`, { cause });
  }
}

function unlessAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return;
  throw new MantelError("invalid", `the file cannot be read: ${error.code ?? "unknown error"}`);
}

/** Both packs; texts of the second win. */
export function mergePacks(first: LanguagePack, second: LanguagePack): LanguagePack {
  const name = second.name ?? first.name;
  return {
    ...(name !== undefined && { name }),
    dashboard: mergeTables(first.dashboard, second.dashboard),
    vocabulary: { ...first.vocabulary, ...second.vocabulary },
    plugins: mergeTables(first.plugins, second.plugins),
  };
}

/** Both sets of tables; texts of the second win. */
export function mergeTables(
  first: Readonly<Record<string, Texts>> = {},
  second: Readonly<Record<string, Texts>> = {},
): Record<string, Texts> {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  const tableIn = (tables: Readonly<Record<string, Texts>>, name: string): Texts | undefined =>
    Object.hasOwn(tables, name) ? tables[name] : undefined;
  return Object.fromEntries(
    [...names].map((name) => [name, { ...tableIn(first, name), ...tableIn(second, name) }]),
  );
}

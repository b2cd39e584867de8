import { withDefaults } from "@mantel/plugin-sdk/defaults";
import type { Fault } from "@mantel/plugin-sdk/errors";
import { pointerToken } from "@mantel/plugin-sdk/validation-errors";
import type { TSchema } from "typebox";
import { faultsOf } from "../validate.ts";
import { type ConfigDocument, valueAt, withValue } from "./document.ts";
import type { ConfigKey, KeyTable, ConfigPath } from "./keys.ts";
import { type Config, CoreConfig } from "./schema.ts";
import { withoutSecrets } from "./secrets.ts";

/** The configured values, by the file they are stored in. */
export interface StoredValues {
  readonly plain: ConfigDocument;
  readonly secret: ConfigDocument;
}

/** All sources of values. The environment overrides stored values, which override defaults. */
export interface ConfigSources {
  readonly keys: KeyTable;
  readonly environment: ConfigDocument;
  readonly stored: StoredValues;
}

/** The config as readers may see it, and the keys they may change. */
export interface ConfigView {
  readonly config: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly meta: { readonly writable: string[]; readonly adminWritable: string[] };
}

/** The plugins with configured options, without sections of the host. */
export function pluginSections({ plain, secret }: StoredValues): ReadonlySet<string> {
  const isSet = ([id, section]: [string, object]): boolean =>
    !Object.hasOwn(CoreConfig.properties, id) && Object.keys(section).length > 0;
  const found = [plain, secret].flatMap((document) => Object.entries(document).filter(isSet));
  return new Set(found.map(([id]) => id));
}

/** The effective value of every known key, frozen, with secrets. */
export function effectiveConfig(sources: ConfigSources): Config {
  let config: ConfigDocument = emptySections();
  for (const key of sources.keys.all()) {
    const value = givenValue(key, sources) ?? (key.schema as { default?: unknown }).default;
    if (value === undefined) continue;
    config = withValue(config, key, withDefaults(key.schema, structuredClone(value)));
  }
  return frozen({ ...config, modules: { ...sources.stored.plain["modules"] } }) as Config;
}

/** The section of a plugin, limited to the keys in its schema, with defaults, and its faults. */
export function pluginOptions(
  pluginId: string,
  schema: TSchema | undefined,
  sources: ConfigSources,
): { options: unknown; faults: Fault[] } {
  if (!schema) return { options: {}, faults: [] };
  const { properties = {} } = schema as { properties?: Record<string, TSchema> };
  const effective = effectiveConfig(sources);
  const given = Object.keys(properties).flatMap((key) => {
    const place = { section: pluginId, key };
    const isCore = sources.keys.find(pluginId, key)?.core;
    const value = isCore ? valueAt(effective, place) : givenValue(place, sources);
    return value === undefined ? [] : [[key, structuredClone(value)] as const];
  });
  const options = withDefaults(schema, Object.fromEntries(given));
  const faults = faultsOf(schema, options).map(({ pointer, detail }) => ({
    pointer: `/${pointerToken(pluginId)}${pointer}`,
    detail,
  }));
  return { options, faults };
}

/** The answer of `GET /config`: only known keys, and for secrets only if they are set. */
export function viewOf(config: Config, keys: KeyTable): ConfigView {
  let shown: ConfigDocument = emptySections();
  for (const key of keys.all()) {
    const value = valueAt(config, key);
    const open = key.secret ? withoutSecrets(key.schema, value) : value;
    if (open !== undefined) shown = withValue(shown, key, open);
  }
  const all = [...keys.all()];
  const named = (scope: ConfigKey["scope"]) =>
    all.filter((key) => key.scope === scope).map(({ dotted }) => dotted);
  return {
    config: { ...shown, modules: config.modules },
    meta: { writable: named("edit"), adminWritable: [...named("admin"), ...keys.moduleKeys()] },
  };
}

function givenValue(place: ConfigPath, sources: ConfigSources): unknown {
  const { environment, stored } = sources;
  return (
    valueAt(environment, place) ?? valueAt(stored.plain, place) ?? valueAt(stored.secret, place)
  );
}

function emptySections(): ConfigDocument {
  return Object.fromEntries(Object.keys(CoreConfig.properties).map((section) => [section, {}]));
}

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
}

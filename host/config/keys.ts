import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { type TSchema, Type } from "typebox";
import { CoreConfig, HOST_SECTIONS, ModuleSettings } from "./schema.ts";
import { holdsSecret } from "./secrets.ts";

/** The location of a value in the config. */
export interface ConfigPath {
  readonly section: string;
  readonly key: string;
}

/** One key of the config. */
export interface ConfigKey extends ConfigPath {
  /** `<section>.<key>`. */
  readonly dotted: string;
  readonly schema: TSchema;
  /** The lowest scope that may change it. */
  readonly scope: "edit" | "admin";
  /** The environment variable that overrides it. */
  readonly variable: string | undefined;
  /** True for a key of the host itself, even if a plugin has it too. */
  readonly core: boolean;
  /** True if some part of its value is write-only. */
  readonly secret: boolean;
}

type Sections = Readonly<Record<string, { readonly properties?: Record<string, TSchema> }>>;
const PLUGIN_ID_PATTERN = new RegExp(PLUGIN_ID);

/** All known keys: those of the host, and those of each plugin whose options are registered. */
export class KeyTable {
  readonly #core = new Map<string, ConfigKey>();
  readonly #byPlugin = new Map<string, ReadonlyMap<string, ConfigKey>>();

  constructor() {
    const sections = CoreConfig.properties as Sections;
    for (const [section, { properties }] of Object.entries(sections)) {
      for (const [key, schema] of Object.entries(properties ?? {})) {
        const made = configKey({ section, key }, schema, true);
        this.#core.set(made.dotted, made);
      }
    }
  }

  /** Replaces a plugin's keys; true if that changed anything. Keys of the host cannot be replaced. */
  register(pluginId: string, schema: TSchema | undefined): boolean {
    if (HOST_SECTIONS.has(pluginId)) throw new Error(`${pluginId} is a section of the host`);
    const { properties = {} } = (schema ?? {}) as { properties?: Record<string, TSchema> };
    const keys = new Map<string, ConfigKey>();
    for (const [key, value] of Object.entries(properties)) {
      const made = configKey({ section: pluginId, key }, value, false);
      if (!this.#core.has(made.dotted)) keys.set(made.dotted, made);
    }
    const before = this.#byPlugin.get(pluginId);
    this.#byPlugin.set(pluginId, keys);
    return before === undefined || JSON.stringify([...before]) !== JSON.stringify([...keys]);
  }

  find(section: string, key: string): ConfigKey | undefined {
    if (section === "modules") return this.#moduleKey(key);
    const dotted = `${section}.${key}`;
    return this.#core.get(dotted) ?? this.#byPlugin.get(section)?.get(dotted);
  }

  /** Every key except those under `modules`, which exist for any module id. */
  *all(): Iterable<ConfigKey> {
    yield* this.#core.values();
    for (const keys of this.#byPlugin.values()) yield* keys.values();
  }

  /** Every known key of a section. */
  of(section: string): ConfigKey[] {
    return [...this.all()].filter((key) => key.section === section);
  }

  isKnownSection(section: string): boolean {
    return section === "modules" || this.of(section).length > 0;
  }

  /** The keys of all registered modules. */
  moduleKeys(): string[] {
    return [...this.#byPlugin.keys()].map((id) => `modules.${id}`);
  }

  /** True if a plugin that has not registered yet may add keys to the section. */
  mayGrow(section: string): boolean {
    return (
      !HOST_SECTIONS.has(section) && !this.#byPlugin.has(section) && PLUGIN_ID_PATTERN.test(section)
    );
  }

  #moduleKey(id: string): ConfigKey | undefined {
    return PLUGIN_ID_PATTERN.test(id)
      ? configKey({ section: "modules", key: id }, ModuleSettings, true)
      : undefined;
  }
}

/** A leftover key of a plugin that is gone or no longer has the option. It can only be removed. */
export function leftoverKey(place: ConfigPath): ConfigKey {
  return configKey(place, Type.Unknown(), false);
}

/** Creates a key. The scope in a schema counts only for the host's own: a plugin cannot open a key to `edit`. */
function configKey(place: ConfigPath, schema: TSchema, core: boolean): ConfigKey {
  const marks = (core ? schema : {}) as { "x-scope"?: "edit"; "x-env"?: string };
  return {
    ...place,
    dotted: `${place.section}.${place.key}`,
    schema,
    core,
    scope: marks["x-scope"] ?? "admin",
    variable: marks["x-env"],
    secret: holdsSecret(schema),
  };
}

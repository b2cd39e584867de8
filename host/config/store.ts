import { join } from "node:path";
import type { Fault } from "@mantel/plugin-sdk/errors";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import type { TSchema } from "typebox";
import { assertIfMatch } from "../documents/if-match.ts";
import { watchFile } from "../documents/watch-file.ts";
import type { HostLog } from "../log.ts";
import { invalid } from "../validate.ts";
import { type ConfigDocument, changedKeys } from "./document.ts";
import { readEnvironment, unknownVariables } from "./environment.ts";
import { applyChanges, ConfigFiles } from "./files.ts";
import { KeyTable } from "./keys.ts";
import { planPatch } from "./patch.ts";
import type { Config } from "./schema.ts";
import {
  type ConfigView,
  effectiveConfig,
  pluginOptions,
  pluginSections,
  type ConfigSources,
  viewOf,
} from "./values.ts";

type Listener = (changed: readonly string[]) => void;

interface Dependencies {
  readonly keys: KeyTable;
  readonly environment: ConfigDocument;
  readonly files: ConfigFiles;
  readonly log: HostLog;
}

/**
 * The config of the home: from the environment, from `config.json`, which users may edit while
 * the host runs, and from `secrets.json`. A refused change changes nothing.
 */
export class ConfigStore {
  readonly #parts: Dependencies;
  readonly #queue = new SerialQueue();
  readonly #listeners = new Set<Listener>();
  #current: Config;
  /** Plugins that have configured options. */
  #sections: ReadonlySet<string>;
  #view: ConfigView;
  /** Grows with every change of the view; it starts from the clock, so that it also grows across restarts. */
  #revision = Date.now();
  #unwatch: (() => void) | undefined;

  private constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#current = effectiveConfig(this.#sources);
    this.#view = viewOf(this.#current, parts.keys);
    this.#sections = pluginSections(parts.files.stored);
  }

  /** @throws MantelError `invalid` if a variable of the environment is invalid */
  static async open(options: {
    dataFolder: string;
    environment: NodeJS.ProcessEnv;
    log: HostLog;
  }): Promise<ConfigStore> {
    const { dataFolder, log } = options;
    const keys = new KeyTable();
    const environment = readEnvironment(options.environment, keys);
    const unknown = unknownVariables(options.environment, keys);
    if (unknown.length > 0) log.warn("unknown environment variables", { unknown });
    const files = new ConfigFiles(dataFolder, keys, log);
    await files.load();
    const store = new ConfigStore({ keys, environment, files, log });
    const reread = () => void store.#queue.take(() => store.#reread());
    store.#unwatch = watchFile(join(dataFolder, "config.json"), reread, log);
    return store;
  }

  /** The effective config, frozen. It contains secrets: use it in the host only, never in an answer. */
  get current(): Config {
    return this.#current;
  }

  get revision(): number {
    return this.#revision;
  }

  /** The config as readers may see it. */
  view(): ConfigView & { revision: number } {
    return { ...this.#view, revision: this.#revision };
  }

  /**
   * Applies a JSON Merge Patch (RFC 7396) completely or not at all; `null` resets a key to its default.
   * `changed` has the dotted keys whose effective values changed, and the plugins whose section was
   * added or removed without such a change.
   *
   * @throws MantelError `config_key_not_allowed`, `invalid`, `revision_stale`, `disk_full`
   */
  patch(
    patch: unknown,
    { admin, ifMatch }: { admin: boolean; ifMatch?: string },
  ): Promise<ConfigView & { revision: number; changed: string[] }> {
    return this.#queue.take(async () => {
      await this.#reread();
      const changes = planPatch(patch, { ...this.#sources, current: this.#current, admin });
      assertIfMatch(this.#revision, ifMatch);
      await this.#parts.files.change(changes);
      const changed = this.#refresh();
      return { ...this.view(), changed };
    });
  }

  /**
   * Registers a plugin's options, so that its section can be patched and shown. The schema is JSON
   * Schema from the plugin's process.
   */
  registerOptions(pluginId: string, schema: TSchema | undefined): void {
    const { keys, files, log } = this.#parts;
    if (!keys.register(pluginId, schema)) return;
    this.#adopt(effectiveConfig(this.#sources));
    this.#queue
      .take(async () => {
        // Passwords become hashes here, which does not change the effective options.
        if (await files.separate()) this.#adopt(effectiveConfig(this.#sources));
      })
      .catch((error: unknown) =>
        log.error("could not move secrets out of the config file", { error }),
      );
  }

  /**
   * The options to start a plugin with: its section, limited to the keys of its schema, with defaults
   * and secrets. Pointers of the faults start at the root of the config. A `section` replaces
   * the one stored in `config.json`.
   */
  optionsFor(
    pluginId: string,
    schema: TSchema | undefined,
    section?: Readonly<Record<string, unknown>>,
  ): { options: unknown; faults: Fault[] } {
    const { stored, ...sources } = this.#sources;
    const plain = section ? { ...stored.plain, [pluginId]: section } : stored.plain;
    return pluginOptions(pluginId, schema, { ...sources, stored: { ...stored, plain } });
  }

  /**
   * The options a plugin would have after a merge patch of its section. Nothing is stored.
   * @throws MantelError `invalid`, with every fault; pointers start at the root of the config
   */
  optionsAfter(pluginId: string, schema: TSchema | undefined, patch: unknown): unknown {
    const sources = this.#sources;
    const context = { ...sources, current: this.#current, admin: true };
    const changes = planPatch({ [pluginId]: patch }, context);
    const stored = applyChanges(sources.stored, changes);
    const { options, faults } = pluginOptions(pluginId, schema, { ...sources, stored });
    if (faults.length > 0) throw invalid("the patch", faults);
    return options;
  }

  /** The form of a plugin's registered options, and their values as readers may see them. */
  formOf(pluginId: string): { schema: object | null; options: object; revision: number } {
    const keys = this.#parts.keys.of(pluginId);
    const properties = Object.fromEntries(keys.map(({ key, schema }) => [key, schema]));
    const section = Object.entries(this.#view.config[pluginId] ?? {});
    return {
      schema: keys.length === 0 ? null : { type: "object", properties },
      options: Object.fromEntries(section.filter(([key]) => Object.hasOwn(properties, key))),
      revision: this.#revision,
    };
  }

  /** True if any of a plugin's options is configured. */
  hasSection(pluginId: string): boolean {
    return pluginSections(this.#sources.stored).has(pluginId);
  }

  /** The configured options of a plugin, without secrets. */
  sectionOf(pluginId: string): Readonly<Record<string, unknown>> {
    const { stored, keys } = this.#sources;
    const section = Object.entries(stored.plain[pluginId] ?? {});
    return Object.fromEntries(section.filter(([key]) => keys.find(pluginId, key)?.secret !== true));
  }

  /** Calls `listener` with the dotted keys of each change; returns a function that stops that. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops watching, and waits for running changes. */
  async close(): Promise<void> {
    this.#unwatch?.();
    await this.#queue.ended();
  }

  get #sources(): ConfigSources {
    const { keys, environment, files } = this.#parts;
    return { keys, environment, stored: files.stored };
  }

  async #reread(): Promise<void> {
    await this.#parts.files.reread();
    this.#refresh();
  }

  /** Makes the stored values effective, and notifies the listeners. */
  #refresh(): string[] {
    const next = effectiveConfig(this.#sources);
    const sections = pluginSections(this.#sources.stored);
    const values = changedKeys(this.#current, next);
    // A section that only repeats the defaults still enables its plugin.
    const cameOrWent = [...new Set([...sections, ...this.#sections])].filter(
      (id) =>
        sections.has(id) !== this.#sections.has(id) &&
        !values.some((key) => key.startsWith(`${id}.`)),
    );
    this.#sections = sections;
    const changed = [...values, ...cameOrWent];
    if (changed.length === 0) return changed;
    this.#adopt(next);
    for (const listener of this.#listeners) listener(changed);
    return changed;
  }

  #adopt(config: Config): void {
    this.#current = config;
    this.#view = viewOf(config, this.#parts.keys);
    this.#revision += 1;
  }
}

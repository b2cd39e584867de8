import { join } from "node:path";
import { DocumentFile } from "@mantel/plugin-sdk/document-file";
import { PLUGIN_ID } from "@mantel/plugin-sdk/manifest";
import { Strict } from "@mantel/plugin-sdk/schema";
import { SerialQueue } from "@mantel/plugin-sdk/serial-queue";
import { type Static, Type } from "typebox";
import type { HostLog } from "../../log.ts";
import { check } from "../../validate.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import {
  type RequestedPermission,
  requestedPermissions,
  type Granted,
  describePermission,
  missingPermissions,
} from "./requested-permissions.ts";

const NAME = "consents.json";

const Grant = Type.Object({ name: Type.String(), value: Type.Optional(Type.String()) }, Strict);
export const ConsentsFile = Type.Object(
  {
    version: Type.Literal(1),
    /** Granted permissions by plugin id. */
    granted: Type.Record(Type.String({ pattern: PLUGIN_ID }), Type.Array(Grant), Strict),
  },
  Strict,
);
type ConsentsFile = Static<typeof ConsentsFile>;

interface ConsentsDependencies {
  readonly dataFolder: string;
  readonly log: HostLog;
  /** True in development: each save grants the plugin what it asks for. */
  readonly onSave?: boolean;
  /** True for an installed package, which needs consent also before its first start. */
  readonly asksFirst?: (id: string) => boolean;
}

/**
 * The granted permissions of each plugin, in `<data>/consents.json`. A plugin that is seen for the first
 * time gets everything it asks for: adding its folder is the consent. An installed package gets nothing. From
 * then on a plugin keeps what the running version asks for; anything more waits for the user's consent.
 */
export class Consents {
  readonly #file: DocumentFile<ConsentsFile>;
  readonly #log: HostLog;
  readonly #isOnSave: boolean;
  readonly #asksFirst: (id: string) => boolean;
  readonly #queue = new SerialQueue();
  readonly #granted: Map<string, readonly Granted[]>;

  static async open(parts: ConsentsDependencies): Promise<Consents> {
    const { dataFolder, log } = parts;
    const parse = (value: unknown) => check(ConsentsFile, value, NAME);
    const file = new DocumentFile({ path: join(dataFolder, NAME), parse, log, version: 1 });
    const { granted = {} } = (await file.load()) ?? {};
    return new Consents(file, { ...parts, granted: new Map(Object.entries(granted)) });
  }

  private constructor(
    file: DocumentFile<ConsentsFile>,
    parts: ConsentsDependencies & { readonly granted: Map<string, readonly Granted[]> },
  ) {
    this.#file = file;
    this.#log = parts.log;
    this.#isOnSave = parts.onSave === true;
    this.#asksFirst = parts.asksFirst ?? (() => false);
    this.#granted = parts.granted;
  }

  /**
   * Grants new plugins what they ask for, and in development all plugins; installed packages nothing.
   * Resolves when the grants are stored, or could not be stored.
   */
  async grantPlugins(plugins: readonly PluginPackage[]): Promise<void> {
    let isOther = false;
    for (const plugin of plugins) {
      const needed = this.neededBy(plugin);
      const isNew = !this.#granted.has(plugin.id);
      if (this.#asksFirst(plugin.id)) continue;
      if (!isNew && (needed.length === 0 || !this.#isOnSave)) continue;
      isOther = true;
      this.#grant(plugin);
      if (isNew) continue;
      const fields = { module: plugin.id, added: needed.map(describePermission) };
      this.#log.warn("permissions granted on save", fields);
    }
    if (isOther) await this.#writeOrTell();
  }

  /** The permissions this plugin asks for and does not have; it waits while this is not empty. */
  neededBy({ id, manifest }: PluginPackage): RequestedPermission[] {
    const granted = this.#granted.get(id) ?? (this.#asksFirst(id) ? [] : undefined);
    return granted ? missingPermissions(granted, requestedPermissions(manifest)) : [];
  }

  /** Grants a plugin everything it asks for. @throws MantelError `disk_full`; nothing is granted then */
  async allow(plugin: PluginPackage): Promise<void> {
    const before = this.#granted.get(plugin.id);
    this.#grant(plugin);
    try {
      await this.#write();
    } catch (error) {
      if (before) this.#granted.set(plugin.id, before);
      throw error;
    }
  }

  /**
   * Adds the permissions of the previous version, which runs again after a crash; both versions' permissions hold.
   */
  keep(plugin: PluginPackage): void {
    if (this.neededBy(plugin).length === 0) return;
    this.#grant(plugin);
    void this.#writeOrTell();
  }

  /** Reduces the grants to what the running version asks for. */
  settle({ id, manifest }: PluginPackage): void {
    const [granted = [], requested] = [this.#granted.get(id), requestedPermissions(manifest)];
    const isSame =
      granted.length === requested.length && requested.every((each) => granted.some(is(each)));
    if (isSame) return;
    this.#granted.set(id, requested);
    void this.#writeOrTell();
  }

  /** Removes the grants of a plugin that is no longer here. @throws MantelError `disk_full` */
  async forget(id: string): Promise<void> {
    if (this.#granted.delete(id)) await this.#write();
  }

  /** Resolves when all changes are stored. */
  async close(): Promise<void> {
    await this.#queue.ended();
  }

  #grant({ id, manifest }: PluginPackage): void {
    const requested = requestedPermissions(manifest);
    const others = (this.#granted.get(id) ?? []).filter((each) => !requested.some(is(each)));
    this.#granted.set(id, [...others, ...requested]);
  }

  async #writeOrTell(): Promise<void> {
    try {
      await this.#write();
    } catch (error) {
      this.#log.error("could not store the plugins' permissions", { file: NAME, error });
    }
  }

  #write(): Promise<void> {
    return this.#queue.take(() => {
      const granted = Object.fromEntries([...this.#granted].map(([id, each]) => [id, [...each]]));
      return this.#file.write({ version: 1, granted });
    });
  }
}

const is = (one: Granted) => (other: Granted) =>
  one.name === other.name && one.value === other.value;

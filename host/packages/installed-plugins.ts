import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { translatedTitles } from "@mantel/plugin-sdk/manifest";
import semver from "semver";
import type { ModuleView } from "../api/module.ts";
import type { FoundPackage, PluginView } from "../api/plugin.ts";
import {
  describePermission,
  requestedPermissions,
} from "../modules/consent/requested-permissions.ts";
import { type PackageFacts, readFacts, readIcon, readReadme } from "./facts.ts";
import { type LockEntry, type PackageLock, PACKAGES_FOLDER } from "./lock.ts";
import type { Packages } from "./packages.ts";
import { newestVersion, searchPackages } from "./registry.ts";
import { parseSource } from "./source.ts";

/** A registry is asked again for a newest version after this time. */
const LOOKUP_KEPT_MS = 60_000;
const LOOKUPS_AT_ONCE = 3;

interface Dependencies {
  readonly dataFolder: string;
  readonly lock: PackageLock;
  readonly packages: Packages;
  /** The module of a plugin, if a host runs. */
  readonly module: (id: string) => ModuleView | undefined;
  /** The version that runs, if one does. */
  readonly runningVersion: (id: string) => string | undefined;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Describes the installed plugins, and what registries have for them. */
export class InstalledPlugins {
  readonly #parts: Dependencies;
  readonly #now: () => number;
  readonly #newest = new Map<string, { readonly version: string; readonly at: number }>();

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** All installed plugins by id. */
  async list(): Promise<PluginView[]> {
    const entries = this.#parts.lock.entries.toSorted((a, b) => a.id.localeCompare(b.id));
    return Promise.all(entries.map((entry) => this.#view(entry)));
  }

  /** @throws MantelError `plugin_unknown` */
  get(id: string): Promise<PluginView> {
    return this.#view(this.#entry(id));
  }

  /** The README as text. @throws MantelError `plugin_unknown`, `not_found` */
  readme(id: string): Promise<string> {
    return readReadme(this.#folder(this.#entry(id)));
  }

  /** The icon. @throws MantelError `plugin_unknown`, `not_found` */
  icon(id: string): Promise<{ type: string; bytes: Buffer }> {
    return readIcon(this.#folder(this.#entry(id)));
  }

  /** Asks the registry for the newest version of each plugin. Returns the reasons of those that failed, by id. */
  async lookUp(): Promise<Record<string, string>> {
    const failures: Record<string, string> = {};
    const rest = this.#parts.lock.entries.filter((entry) => !this.#isFresh(entry));
    const worker = async (): Promise<void> => {
      for (let entry = rest.shift(); entry; entry = rest.shift()) {
        const failure = await this.#lookUpOne(entry);
        if (failure !== undefined) failures[entry.id] = failure;
      }
    };
    await Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, worker));
    return failures;
  }

  /** Searches npm's registry for plugins. @throws MantelError `registry_down`, `install_failed` */
  async search(text: string): Promise<FoundPackage[]> {
    const found = await searchPackages(text, await this.#workFolder());
    const ids = new Map(this.#parts.lock.entries.map(({ name, id }) => [name, id]));
    return found.map((each) => ({ ...each, installed: ids.get(each.name) ?? null }));
  }

  async #lookUpOne(entry: LockEntry): Promise<string | undefined> {
    const source = parseSource(entry.source);
    if (source.kind !== "npm") return undefined;
    try {
      const version = await newestVersion(source, await this.#workFolder());
      this.#newest.set(entry.id, { version, at: this.#now() });
      return undefined;
    } catch (error) {
      if (error instanceof MantelError) return error.message;
      throw error;
    }
  }

  #isFresh({ id }: LockEntry): boolean {
    const known = this.#newest.get(id);
    return known !== undefined && this.#now() - known.at < LOOKUP_KEPT_MS;
  }

  async #view(entry: LockEntry): Promise<PluginView> {
    const facts = await readFacts(this.#folder(entry));
    const module = this.#parts.module(entry.id);
    const latest = this.#newest.get(entry.id)?.version ?? null;
    const { id, name, version, source, integrity, pinned, installedAt } = entry;
    return {
      ...viewOfFacts(id, facts),
      ...viewOfModule(module, facts),
      id,
      name,
      version,
      source,
      integrity,
      pinned,
      installedAt,
      previous: entry.previous?.version ?? null,
      latest,
      outdated: latest !== null && isNewer(latest, version),
      running: this.#parts.runningVersion(id) ?? null,
      rejected: this.#parts.packages.rejected(id) ?? null,
      scripts: { wanted: [...facts.scripts], allowed: [...entry.scripts] },
    };
  }

  #folder(entry: LockEntry): string {
    return this.#parts.packages.folders.of(entry);
  }

  #entry(id: string): LockEntry {
    const entry = this.#parts.lock.find(id);
    if (entry) return entry;
    throw new MantelError(
      "plugin_unknown",
      `no plugin ${id} is installed; see the list of plugins`,
    );
  }

  /** A folder without a `.npmrc` or `package.json`, so that npm uses the user's configuration. */
  async #workFolder(): Promise<string> {
    const folder = join(this.#parts.dataFolder, PACKAGES_FOLDER);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
}

/** The fields of a view that come from the files of the package. */
function viewOfFacts(id: string, facts: PackageFacts) {
  const { manifest, description, readme, icon } = facts;
  const titles = manifest && translatedTitles(manifest);
  return {
    title: manifest?.title ?? id,
    ...(titles && { titles }),
    description,
    permissions: permissionsIn(facts),
    readme: readme !== undefined,
    icon: icon !== undefined,
  };
}

/** The fields of a view that come from the module, if a host runs. */
function viewOfModule(module: ModuleView | undefined, facts: PackageFacts) {
  const state = module?.state ?? "disabled";
  return {
    consent: module?.consent ?? null,
    ...(module?.unused && { unused: module.unused }),
    state: facts.manifest === undefined ? ("missing" as const) : state,
    error: faultOf(facts, module),
  };
}

function permissionsIn({ manifest }: PackageFacts): PluginView["permissions"] {
  const requested = manifest ? requestedPermissions(manifest) : [];
  return {
    words: requested.map(describePermission),
    requested: requested.map(({ name, value = null }) => ({ name, value })),
  };
}

function faultOf({ manifest }: PackageFacts, module: ModuleView | undefined): PluginView["error"] {
  if (manifest !== undefined) return module?.error ?? null;
  return { message: "its files are missing; update it to fetch them again, or remove it" };
}

function isNewer(latest: string, version: string): boolean {
  const areVersions = semver.valid(latest) !== null && semver.valid(version) !== null;
  return areVersions ? semver.gt(latest, version) : latest !== version;
}

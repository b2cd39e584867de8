import { isDeepStrictEqual } from "node:util";
import { consentNeededError } from "../consent/consent-needed-error.ts";
import type { Consents } from "../consent/consents.ts";
import { type RequestedPermission, describePermission } from "../consent/requested-permissions.ts";
import { type PluginPackage, readManifest } from "../manifest/manifest.ts";
import type { ModuleLog } from "../state/logs.ts";
import type { ModuleStatus } from "../state/status.ts";
import type { ModuleVersions } from "../versions/module-versions.ts";
import { isReplaceableBy } from "../versions/version.ts";

interface ConsentDependencies {
  readonly id: string;
  readonly consents: Consents;
  readonly versions: ModuleVersions;
  readonly status: ModuleStatus;
  readonly log: ModuleLog;
}

/** The consent of one module: whether the plugin on disk may run with the permissions it asks for. */
export class ModuleConsent {
  readonly #parts: ConsentDependencies;

  constructor(parts: ConsentDependencies) {
    this.#parts = parts;
  }

  /** True if the plugin on disk asks for permissions that it does not have; it waits as long as this is true. */
  get isNeeded(): boolean {
    return this.#needed.length > 0;
  }

  /** The error for a start of the plugin on disk while it waits. */
  get error(): ReturnType<typeof consentNeededError> {
    return consentNeededError(this.#parts.id, this.#needed);
  }

  /** Sets the plugin on disk, and reports the permissions that it is missing now. */
  setOnDisk(plugin: PluginPackage): void {
    const { versions, status, log } = this.#parts;
    const before = this.#needed;
    versions.onDisk = plugin;
    const needed = this.#needed;
    status.needsConsent(needed);
    if (needed.length === 0 || isDeepStrictEqual(before, needed)) return;
    const sentence = "the plugin asks for more permissions and waits for consent";
    log.record({ level: "warn", sentence, fields: { needed: needed.map(describePermission) } });
  }

  /**
   * Reads the manifest again, because it may have just changed: code never runs with an older or newer manifest.
   */
  async readManifest(): Promise<void> {
    const { id, consents, versions } = this.#parts;
    const { onDisk } = versions;
    const plugin = await readManifest(onDisk.folder).catch(() => undefined); // the module list shows that
    if (plugin?.id !== id || isDeepStrictEqual(plugin, onDisk)) return;
    await consents.grantPlugins([plugin]);
    const isSameKind = isReplaceableBy(versions.plugin, plugin);
    if (isSameKind || consents.neededBy(plugin).length > 0) this.setOnDisk(plugin);
  }

  /** The last check before the code on disk takes over. @throws MantelError `consent_needed` */
  async confirm(): Promise<void> {
    await this.readManifest();
    if (this.isNeeded) throw this.error;
  }

  /**
   * Grants the plugin on disk all permissions it asks for, and returns the added ones. `seen`
   * is what the user was shown of them; if absent, all are accepted.
   *
   * @throws MantelError `consent_needed` if it asks for more than was seen; `disk_full`
   */
  async give(seen?: readonly string[]): Promise<string[]> {
    const { consents, versions, status, log } = this.#parts;
    const [plugin, needed] = [versions.onDisk, this.#needed.map(describePermission)];
    if (seen && needed.some((each) => !seen.includes(each))) throw this.error;
    if (needed.length === 0) return [];
    await consents.allow(plugin);
    status.needsConsent(this.#needed);
    const sentence = "consent given; permissions added";
    log.record({ level: "info", sentence, fields: { added: needed } });
    return needed;
  }

  /**
   * Removes grants that the plugin on disk, which runs now, does not ask for. If the manifest changed during the
   * reload, the plugin on disk runs only after the next one, and keeps its grants until then.
   */
  dropUnused(): void {
    const { hasPendingVersion, onDisk, plugin } = this.#parts.versions;
    if (!hasPendingVersion && isDeepStrictEqual(onDisk, plugin)) this.settle();
  }

  /** Reduces the grants to what the running plugin asks for. */
  settle(): void {
    this.#parts.consents.settle(this.#parts.versions.plugin);
    this.#parts.status.needsConsent(this.#needed);
  }

  get #needed(): readonly RequestedPermission[] {
    return this.#parts.consents.neededBy(this.#parts.versions.onDisk);
  }
}

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Audit, type AuditRecord } from "../../host/auth/audit.ts";
import type { ConfigStore } from "../../host/config/store.ts";
import { lockDataFolder } from "../../host/data-lock.ts";
import type { HostLog } from "../../host/log.ts";
import { Consents } from "../../host/modules/consent/consents.ts";
import { describePermission } from "../../host/modules/consent/requested-permissions.ts";
import { readManifest } from "../../host/modules/manifest/manifest.ts";
import { readShipped } from "../../host/modules/manifest/shipped.ts";
import { VersionStore } from "../../host/modules/versions/version-store.ts";
import { PackageLock } from "../../host/packages/lock.ts";
import { openPackagesOffline } from "../../host/packages/open-packages.ts";
import type { Changed, PluginHome } from "./home.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const OPERATOR = { sub: "plugin command", jti: "" };

interface Options {
  readonly data: string;
  /** Plugin folders. */
  readonly roots: readonly string[];
  readonly config: ConfigStore;
  readonly log: HostLog;
  readonly tell: (step: string) => void;
}

/** The plugins of a home whose host does not run. Holds the lock of the data folder until it is closed. */
export async function openStoppedHome({
  data,
  roots,
  config,
  log,
  tell,
}: Options): Promise<PluginHome> {
  const unlock = await lockDataFolder(data);
  const lock = await PackageLock.open(data, log);
  const asksFirst = (id: string) => lock.find(id) !== undefined;
  const consents = await Consents.open({ dataFolder: data, log, asksFirst });
  const { isShippedId } = await readShipped(join(ROOT, "plugins"));
  const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  const parts = { dataFolder: data, lock, config, consents, log, version, isShippedId, roots };
  const { packages, plugins, close } = await openPackagesOffline({
    ...parts,
    versionStore: new VersionStore(join(data, "cache")),
    progress: ({ step }) => tell(step),
  });
  const audit = new Audit(data);
  const record = (entry: AuditRecord) => audit.record(OPERATOR, entry);
  const changed = async (
    done: Promise<Pick<Changed, "result"> & { readonly id: string }>,
    action: string,
  ): Promise<Changed> => {
    const { id, result } = await done;
    const plugin = await plugins.get(id);
    await record({ action, plugin: id, version: plugin.version });
    return { plugin, result };
  };
  const pluginOf = (id: string) => {
    const entry = lock.find(id);
    if (!entry) throw new Error(`no plugin ${id} is installed`);
    return readManifest(packages.folders.of(entry));
  };
  const missing = new Map<string, string[]>();
  const noteMissing = async (result: Changed): Promise<Changed> => {
    const needed = consents.neededBy(await pluginOf(result.plugin.id));
    missing.set(result.plugin.id, needed.map(describePermission));
    return result;
  };
  return {
    list: async (latest) => {
      const unknown = latest ? await plugins.lookUp() : {};
      return { plugins: await plugins.list(), unknown };
    },
    search: (words) => plugins.search(words),
    install: async (request) =>
      noteMissing(await changed(packages.install(request).done, "plugin.install")),
    update: async (id, request) =>
      noteMissing(await changed(packages.update(id, request).done, "plugin.update")),
    pin: async (id, pinned) => {
      await packages.pin(id, pinned);
      await record({ action: "plugin.pin", plugin: id, pinned });
      return plugins.get(id);
    },
    remove: async (id, purge) => {
      await packages.remove(id, { purge }).done;
      await record({ action: "plugin.remove", plugin: id, purge });
    },
    needed: ({ id }) => missing.get(id) ?? [],
    consent: async ({ id }) => {
      await consents.allow(await pluginOf(id));
      await record({ action: "module.consent", module: id, granted: missing.get(id) ?? [] });
    },
    close: async () => {
      await close();
      await consents.close();
      await audit.close();
      await unlock();
    },
  };
}

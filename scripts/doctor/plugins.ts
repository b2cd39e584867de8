import { join } from "node:path";
import type { Config } from "../../host/config/schema.ts";
import { openPluginFolder } from "../../host/folders.ts";
import { discover } from "../../host/modules/manifest/discover.ts";
import { readShipped } from "../../host/modules/manifest/shipped.ts";
import { VersionStore } from "../../host/modules/versions/version-store.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, warn, fail } = findingsOf("plugins");

interface PluginPlaces {
  readonly folders: readonly string[];
  readonly dataFolder: string;
  /** The folder of the plugins that ship with Mantel. */
  readonly shipped: string;
}

/** Checks the plugin folders and the manifest of each plugin. A broken plugin may run as the host has stored it. */
export async function examinePlugins(
  { folders, dataFolder, shipped }: PluginPlaces,
  config: Config,
): Promise<Finding[]> {
  const opened = await Promise.allSettled(folders.map(openPluginFolder));
  const findings: Finding[] = [];
  const roots: string[] = [];
  for (const each of opened) {
    if (each.status === "fulfilled") roots.push(each.value);
    else
      findings.push(fail((each.reason as Error).message, "pass an existing folder with --plugins"));
  }
  const { isShippedId } = await readShipped(shipped);
  const versions = new VersionStore(join(dataFolder, "cache"));
  const allowsLink = (name: string) => config.modules[name]?.links === true;
  const lastRun = () => versions.plugins();
  const { plugins, broken, others } = await discover(roots, { allowsLink, isShippedId, lastRun });
  for (const { folder, error } of [...broken, ...others]) {
    const known = await versions.pluginIn(folder);
    const last = known && !plugins.has(known.id) && (await versions.version(known.id))?.plugin;
    if (last) {
      const says = `${error.message}; Mantel runs ${last.id} ${last.version} as it was before`;
      findings.push(warn(says, "correct the plugin; its changes have no effect until then"));
    } else if (broken.some((each) => each.folder === folder)) {
      const todo = "correct the plugin, or move it out of the plugin folder";
      findings.push(fail(error.message, todo));
    }
  }
  return [ok(`${plugins.size} plugins have valid manifests`), ...findings];
}

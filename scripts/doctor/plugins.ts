import type { Config } from "../../host/config/schema.ts";
import { openPluginFolder } from "../../host/folders.ts";
import { discover } from "../../host/modules/manifest/discover.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { ok, fail } = findingsOf("plugins");

/** Checks the plugin folders and the manifest of each plugin. */
export async function examinePlugins(
  folders: readonly string[],
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
  const allowsLink = (name: string) => config.modules[name]?.links === true;
  const { plugins, broken } = await discover(roots, { allowsLink, isShippedId: () => true });
  for (const { error } of broken) {
    findings.push(fail(error.message, "correct the plugin, or move it out of the plugin folder"));
  }
  return [ok(`${plugins.size} plugins have valid manifests`), ...findings];
}

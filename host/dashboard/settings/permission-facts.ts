import { isPath } from "@mantel/plugin-sdk/permission-words";
import type { ModuleView } from "../../api/module.ts";
import type { Fact } from "./facts.ts";
import { words } from "./words.ts";

/** The granted and newly requested permissions of a module. A folder given by its path is read-only. */
export function permissionFacts({ permissions }: Pick<ModuleView, "permissions">): Fact[] {
  const texts = words.value;
  const { hosts, folders, home, provides, uses, added } = permissions;
  const { openNetwork } = permissions;
  const opened = { setup: texts.useOpenNetworkAtSetup, always: texts.useOpenNetwork };
  const flags = (["listen", "childProcesses", "workerThreads", "nativeAddons", "sqlite"] as const)
    .filter((flag) => permissions[flag])
    .map((flag) => texts[flag]);
  const lists: readonly (readonly [string, readonly string[]])[] = [
    [texts.allowedHosts, hosts],
    [texts.readableFolders, folders.filter(isPath)],
    [texts.writableFolders, folders.filter((folder) => !isPath(folder))],
    [texts.readsHome, home.read],
    [texts.controlsHome, home.control],
    [texts.provides, provides],
    [texts.uses, uses],
    [texts.mayAlso, [...(openNetwork ? [opened[openNetwork]] : []), ...flags]],
    [texts.newPermissions, added],
  ];
  const requested = lists.filter(([, values]) => values.length > 0);
  if (requested.length === 0) return [[texts.permissions, texts.noPermissionsRequested]];
  return requested.map(([name, values]) => [name, values.join(", ")]);
}

import { isPath } from "@mantel/plugin-sdk/permission-words";
import type { ModuleView } from "../../api/module.ts";
import type { Fact } from "./facts.ts";
import { words } from "./words.ts";

/** The granted and newly requested permissions of a module. A folder given by its path is read-only. */
export function permissionFacts({ permissions }: Pick<ModuleView, "permissions">): Fact[] {
  const say = words.value;
  const { hosts, folders, provides, uses, added } = permissions;
  const { openNetwork } = permissions;
  const opened = { setup: say.useOpenNetworkAtSetup, always: say.useOpenNetwork };
  const flags = (["listen", "childProcesses", "workerThreads", "nativeAddons", "sqlite"] as const)
    .filter((flag) => permissions[flag])
    .map((flag) => say[flag]);
  const lists: readonly (readonly [string, readonly string[]])[] = [
    [say.hosts, hosts],
    [say.readFolders, folders.filter(isPath)],
    [say.writtenFolders, folders.filter((folder) => !isPath(folder))],
    [say.provides, provides],
    [say.uses, uses],
    [say.mayAlso, [...(openNetwork ? [opened[openNetwork]] : []), ...flags]],
    [say.newlyAsked, added],
  ];
  const asked = lists.filter(([, values]) => values.length > 0);
  if (asked.length === 0) return [[say.permissions, say.nothingAsked]];
  return asked.map(([name, values]) => [name, values.join(", ")]);
}

import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { ModuleView } from "../../api/module.ts";

/** The permissions in a manifest; those it leaves open are filled in as none. */
export function permissionsOf({
  permissions,
  provides,
  uses,
  paths,
}: Manifest): Omit<ModuleView["permissions"], "added"> {
  return {
    hosts: [],
    openNetwork: null,
    listen: false,
    folders: [],
    childProcesses: false,
    workerThreads: false,
    nativeAddons: false,
    sqlite: false,
    ...permissions,
    home: { read: permissions?.home?.read ?? [], control: permissions?.home?.control ?? [] },
    provides: provides ?? [],
    uses: uses ?? [],
    paths: Object.keys(paths ?? {}),
  };
}

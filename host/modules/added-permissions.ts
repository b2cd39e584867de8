import { isDeepStrictEqual } from "node:util";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { PluginPackage } from "./code/manifest.ts";
import type { ModuleLog } from "./logs.ts";
import type { ModuleStatus } from "./status.ts";
import { permissionsOf } from "./view.ts";

/**
 * Says in the log and the list what a plugin asks for that it did not ask for before. Nobody is asked
 * back, so it has to be seen. Under the same manifest, what was said stays.
 */
export function tellAdded(
  before: PluginPackage | undefined,
  now: PluginPackage,
  { status, log }: { readonly status: ModuleStatus; readonly log: ModuleLog },
): void {
  if (status.view.generation > 0 && isDeepStrictEqual(before?.manifest, now.manifest)) return;
  const added = before ? addedPermissions(before.manifest, now.manifest) : [];
  status.asksFor(added);
  if (added.length === 0) return;
  const sentence = "the plugin asks for more permissions than before";
  log.record({ level: "warn", sentence, fields: { added } });
}

/** What a manifest asks for beyond what the one before asked for: `<permission>` or `<permission>: <value>`. */
function addedPermissions(before: Manifest, now: Manifest): string[] {
  const had = new Set(asked(before));
  return asked(now).filter((each) => !had.has(each));
}

function asked(manifest: Manifest): string[] {
  return Object.entries(permissionsOf(manifest)).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.map((each) => `${name}: ${each}`);
    return value ? [name] : [];
  });
}

import { isDeepStrictEqual } from "node:util";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import { permissionsOf } from "../consent/declared-permissions.ts";
import type { PluginPackage } from "../manifest/manifest.ts";
import type { ModuleLog } from "./logs.ts";
import type { ModuleStatus } from "./status.ts";

/**
 * Reports in the log and the module list which permissions a plugin added, with or without a user's consent.
 * The report stays while the manifest is the same.
 */
export function logAddedPermissions(
  before: PluginPackage | undefined,
  now: PluginPackage,
  { status, log }: { readonly status: ModuleStatus; readonly log: ModuleLog },
): void {
  if (status.view.generation > 0 && isDeepStrictEqual(before?.manifest, now.manifest)) return;
  const added = before ? addedPermissions(before.manifest, now.manifest) : [];
  status.addedPermissions(added);
  if (added.length === 0) return;
  const sentence = "the plugin asks for more permissions than before";
  log.record({ level: "warn", sentence, fields: { added } });
}

/** The permissions that a manifest adds to those of the previous one: `<permission>` or `<permission>: <value>`. */
function addedPermissions(before: Manifest, now: Manifest): string[] {
  const previous = new Set(requestedTexts(before));
  return requestedTexts(now).filter((each) => !previous.has(each));
}

function requestedTexts(manifest: Manifest): string[] {
  const { home, ...permissions } = permissionsOf(manifest);
  const named = { ...permissions, "home.read": home.read, "home.control": home.control };
  return Object.entries(named).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.map((each) => `${name}: ${each}`);
    if (typeof value === "string") return [`${name}: ${value}`];
    return value ? [name] : [];
  });
}

import type { Limits, Manifest } from "@mantel/plugin-sdk/manifest";
import type { ModuleView } from "../../api/module.ts";
import type { Config } from "../../config/schema.ts";

/** The limits of a module: from the config, then the manifest, then the defaults. */
export function limitsOf(
  manifest: Pick<Manifest, "limits">,
  configured: Limits = {},
): ModuleView["limits"] {
  return {
    memoryMiB: 64,
    storageMiB: 256,
    cpuPercent: 80,
    startMs: 10_000,
    quiesceMs: 2_000,
    callMs: 10_000,
    queueLength: 100,
    ...manifest.limits,
    ...configured,
  };
}

/** The limits of a plugin in the current config. */
export function configuredLimits(
  config: Config,
  { id, manifest }: { readonly id: string; readonly manifest: Manifest },
): ModuleView["limits"] {
  return limitsOf(manifest, config.modules[id]?.limits);
}

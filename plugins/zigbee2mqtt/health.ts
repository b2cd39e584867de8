import type { PluginContext } from "@mantel/plugin-sdk";
import { Health } from "@mantel/plugin-sdk/mqtt";

/** What may be wrong, the more important first. */
const REASONS = ["broker", "refused", "bridge", "list", "host", "settings", "entries"] as const;

/** Why one Zigbee2MQTT does not work as it should. */
export type BridgeHealth = Health<(typeof REASONS)[number]>;

export function openHealth({
  reportDegraded: report,
  log,
}: Pick<PluginContext<unknown, unknown>, "reportDegraded" | "log">): BridgeHealth {
  return new Health({ reasons: REASONS, report, log });
}

/** Counts a value that its device cannot have; people see it as not known. */
export function countUnusable(health: BridgeHealth, where: string): void {
  health.count({ what: "a value", why: "its device cannot have it", where });
}

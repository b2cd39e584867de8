import type { PluginContext } from "@mantel/plugin-sdk";
import { Health } from "@mantel/plugin-sdk/mqtt";

/** What may be wrong, the more important first. */
const REASONS = ["broker", "refused", "host", "announcements", "devices", "topics"] as const;

/** Why the bridge does not work as it should. */
export type BridgeHealth = Health<(typeof REASONS)[number]>;

export function openHealth({
  reportDegraded: report,
  log,
}: Pick<PluginContext<unknown, unknown>, "reportDegraded" | "log">): BridgeHealth {
  return new Health({ reasons: REASONS, report, log });
}

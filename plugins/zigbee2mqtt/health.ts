import type { Health } from "@mantel/plugin-sdk/mqtt";

/** What may be wrong, the more important first. */
export const REASONS = [
  "broker",
  "refused",
  "bridge",
  "list",
  "host",
  "settings",
  "entries",
] as const;

/** Why one Zigbee2MQTT does not work as it should. */
export type BridgeHealth = Health<(typeof REASONS)[number]>;

/** Counts a value that its device cannot have; people see it as not known. */
export function countUnusable(health: BridgeHealth, where: string): void {
  health.count({ what: "a value", why: "its device cannot have it", where });
}

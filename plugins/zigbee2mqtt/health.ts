import type { Health } from "@mantel/plugin-sdk";

/** Possible problems, most important first. */
export const REASONS = [
  "broker",
  "refused",
  "bridge",
  "list",
  "host",
  "settings",
  "entries",
] as const;

/** Reasons why a Zigbee2MQTT instance does not work properly. */
export type BridgeHealth = Health<(typeof REASONS)[number]>;

/** Counts an impossible value, which is shown to users as unknown. */
export function countUnusable(health: BridgeHealth, where: string): void {
  health.count({ what: "a value", why: "its device cannot have it", where });
}

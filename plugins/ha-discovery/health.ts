import type { Health } from "@mantel/plugin-sdk/mqtt";

/** What may be wrong, the more important first. */
export const REASONS = ["broker", "refused", "host", "announcements", "devices", "topics"] as const;

/** Why the bridge does not work as it should. */
export type BridgeHealth = Health<(typeof REASONS)[number]>;

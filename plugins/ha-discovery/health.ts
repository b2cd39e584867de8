import type { Health } from "@mantel/plugin-sdk";

/** Possible problems, most important first. */
export const REASONS = ["broker", "refused", "host", "announcements", "devices", "topics"] as const;

/** Reasons why the bridge does not work properly. */
export type BridgeHealth = Health<(typeof REASONS)[number]>;

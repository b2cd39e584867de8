import type { Health } from "@mantel/plugin-sdk";

/** Possible problems, most important first. */
export const REASONS = ["broker", "refused", "host", "announcements", "devices", "topics"] as const;

/**
 * Unusable messages within a minute that are only logged: anyone may publish one, and it says nothing about the other
 * devices.
 */
export const TOLERATED_MESSAGES = 9;

/** Reasons why the bridge does not work properly. */
export type BridgeHealth = Health<(typeof REASONS)[number]>;

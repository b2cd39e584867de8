/** What a module may be, as the host says it and screens show it. */
export const MODULE_STATES = [
  "disabled",
  "loading",
  "active",
  "degraded",
  "unconfigured",
  "reloading",
  "failed",
  "quarantined",
  "stopping",
] as const;
export type ModuleState = (typeof MODULE_STATES)[number];

/** The states of a module, as in the HTTP API and on the dashboard. */
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

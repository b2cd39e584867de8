import type { ModuleState } from "@mantel/plugin-sdk/module-state";
import { html, type TemplateResult } from "lit";
import { words } from "./words.ts";

const HUES: Readonly<Record<ModuleState, string>> = {
  active: "ok",
  reloading: "info",
  loading: "info",
  degraded: "warn",
  unconfigured: "warn",
  stopping: "info",
  disabled: "none",
  failed: "alert",
  quarantined: "alert",
};

/** The state of a module as a coloured label. */
export function stateChip(state: ModuleState): TemplateResult {
  return html`<span class="state ${HUES[state]}">${words.value[state]}</span>`;
}

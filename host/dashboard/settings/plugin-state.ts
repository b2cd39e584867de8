import { html, nothing, type TemplateResult } from "lit";
import type { PluginView } from "../../api/plugin.ts";
import type { PluginList } from "./plugin-list.ts";
import { stateChip } from "./state-chip.ts";
import { words } from "./words.ts";

/** The step of the operation that runs. */
export function progressView(list: PluginList): TemplateResult {
  const { running } = list;
  return html`<div role="status">
    ${running ? html`<p class="said plain" dir="auto">${running.step}</p>` : nothing}
  </div>`;
}

/** The state of a plugin as a coloured label. */
export function stateView(state: PluginView["state"]): TemplateResult {
  if (state !== "missing") return stateChip(state);
  return html`<span class="state alert">${words.value.pluginMissing}</span>`;
}

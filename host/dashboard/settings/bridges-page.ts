import { html, nothing, type TemplateResult } from "lit";
import type { ModuleView } from "../../api/module.ts";
import { addressOf, type OpenSettingsPage, type SettingsDependencies } from "./page.ts";
import { stateChip } from "./state-chip.ts";
import { words } from "./words.ts";

/** The bridges with their devices, and links to pairing where a plugin supports it. */
export function bridgesPage({ store }: SettingsDependencies): OpenSettingsPage {
  const modules = store.modules();
  const devices = store.allDevices();
  return {
    view() {
      const count = (id: string) => devices.value.filter(({ bridge }) => bridge === id).length;
      const bridges = modules.value.filter(({ kinds }) => kinds.includes("bridge"));
      return html`<ul class="rows">
        ${bridges.map((bridge) => rowOf(bridge, count(bridge.id)))}
      </ul>`;
    },
  };
}

function rowOf({ id, name, state, trials, error }: ModuleView, devices: number): TemplateResult {
  const texts = words.value;
  return html`<li>
    <a class="row" href=${addressOf("modules", id)}>
      <span class="grow">
        <strong dir="auto">${name}</strong>
        <small>${texts.devicesFound(devices)}</small>
        ${error ? html`<small dir="auto">${error.message}</small>` : nothing}
      </span>
      ${trials.includes("setup") ? html`<span class="figure">${texts.canPair}</span>` : nothing}
      ${stateChip(state)}
    </a>
  </li>`;
}

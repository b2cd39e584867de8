import { computed } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import type { ModuleView } from "../../api/module.ts";
import { formatPercent, formatSize } from "./figures.ts";
import { ModulePage } from "./module-page.ts";
import { addressOf, type OpenSettingsPage, type SettingsDependencies } from "./page.ts";
import { stateChip } from "./state-chip.ts";
import { words } from "./words.ts";

/** Polling interval of the figures, which change without an event. */
const LOOK_EVERY_MS = 5_000;

/** All modules, or one module by its id. */
export function modulesPage(parts: SettingsDependencies, item: string): OpenSettingsPage {
  const look = setInterval(() => void refresh(parts), LOOK_EVERY_MS);
  if (item !== "") {
    const page = new ModulePage(parts, item);
    return {
      view: () => page.view(),
      close() {
        clearInterval(look);
        page.close();
      },
    };
  }
  const modules = parts.store.modules();
  const listed = computed(() => modules.value);
  return {
    view: () =>
      html`<ul class="rows">
        ${listed.value.map(rowOf)}
      </ul>`,
    close: () => clearInterval(look),
  };
}

async function refresh({ api, store }: SettingsDependencies): Promise<void> {
  try {
    store.replaceModules((await api.get("/modules")).modules);
  } catch (error) {
    console.warn("could not read the figures of the modules", error);
  }
}

function rowOf(module: ModuleView): TemplateResult {
  const { id, name, version, resources, error, progress, heldSince, restingSince, consent } =
    module;
  const rolledBack = heldSince === null ? undefined : words.value.rolledBackNotice;
  const waits = consent ? words.value.consentNeeded : undefined;
  const rests = restingSince === null ? undefined : words.value.restsNotice;
  const note = progress ?? waits ?? error?.message ?? rolledBack ?? rests;
  return html`<li>
    <a class="row" href=${addressOf("modules", id)}>
      <span class="grow">
        <strong dir="auto">${name}</strong>
        <small>${id} · ${version}</small>
        ${note === undefined ? nothing : html`<small dir="auto">${note}</small>`}
      </span>
      <span class="figure figures">
        ${
          resources.memoryBytes === null
            ? nothing
            : html`<span>${formatPercent(resources.cpuPercent)}</span>
                <span>${formatSize(resources.memoryBytes)}</span>`
        }
        <span>${words.value.generationShort(module.generation)}</span>
      </span>
      ${stateChip(module.state)}
    </a>
  </li>`;
}

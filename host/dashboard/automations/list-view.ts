import { html, nothing, type TemplateResult } from "lit";
import type { AutomationEntry } from "./document.ts";
import type { HomeView } from "./home.ts";
import { templates } from "./templates.ts";
import { words } from "./words.ts";

interface ListView {
  readonly entries: readonly AutomationEntry[];
  readonly home: HomeView;
  readonly mayEdit: boolean;
  readonly mayControl: boolean;
  readonly onSwitch: (entry: AutomationEntry, enabled: boolean) => void;
}

/** The automations with their switches, and the templates for new ones. */
export function listView(list: ListView): TemplateResult {
  const texts = words.value;
  const { entries, mayEdit } = list;
  return html`${
    entries.length === 0
      ? html`<p class="hint">${texts.none}</p>`
      : html`<ul class="rows">
          ${entries.map((entry) => rowView(entry, list))}
        </ul>`
  }
  ${
    mayEdit
      ? html`<section class="templates">
          <h2>${entries.length === 0 ? texts.templates : texts.newAutomation}</h2>
          <ul>
            ${[...templates(), emptyTemplate()].map(
              ({ id, icon, hue, name, hint }) =>
                html`<li>
                  <a href="#/automations/new/${id}" style="--hue: var(--mantel-hue-${hue})">
                    <mantel-icon name=${icon}></mantel-icon><b>${name}</b><span>${hint}</span>
                  </a>
                </li>`,
            )}
          </ul>
        </section>`
      : nothing
  }`;
}

function emptyTemplate(): ReturnType<typeof templates>[number] {
  const { empty, emptyHint } = words.value;
  return { id: "empty", icon: "mdi:plus", hue: "info", name: empty, hint: emptyHint };
}

function rowView(entry: AutomationEntry, list: ListView): TemplateResult {
  const { id, name, kind, enabled, lastRunAt, error } = entry;
  const texts = words.value;
  const { home, mayControl, onSwitch } = list;
  const last =
    lastRunAt === undefined
      ? texts.neverRan
      : texts.lastRun(home.fmt.relative(Date.parse(lastRunAt)));
  const facts = [kind === "code" ? texts.asCode : "", enabled ? "" : texts.isOff, last];
  return html`<li class="row">
    <a href="#/automations/${encodeURIComponent(id)}">
      <mantel-icon name="mdi:call-split"></mantel-icon>
      <span>
        <b dir="auto">${name}</b>
        <small>${facts.filter(Boolean).join(" · ")}</small>
        ${error === undefined ? nothing : html`<small class="fault" dir="auto">${error}</small>`}
      </span>
    </a>
    ${
      mayControl
        ? html`<button
            type="button"
            class="switch"
            role="switch"
            aria-checked=${enabled}
            aria-label=${texts.turnOnOff(name)}
            @click=${() => onSwitch(entry, !enabled)}
          ></button>`
        : nothing
    }
  </li>`;
}

import { html, nothing, type TemplateResult } from "lit";
import type { AutomationEntry, Pause } from "./document.ts";
import type { HomeView } from "./home.ts";
import { onOffSwitch } from "./on-off-switch.ts";
import { templates } from "./templates.ts";
import { words } from "./words.ts";

interface ListView {
  readonly entries: readonly AutomationEntry[];
  readonly home: HomeView;
  readonly mayEdit: boolean;
  readonly mayControl: boolean;
  /** Present while all automations are switched off. */
  readonly pause: Pause | undefined;
  /** Switches all automations off, for a time if it is given. */
  readonly onPause: (forMs?: number) => void;
  readonly onResume: () => void;
  readonly onSwitch: (entry: AutomationEntry, enabled: boolean) => void;
  /** Switches an automation off for a time. */
  readonly onSnooze: (entry: AutomationEntry, forMs: number) => void;
}

/** The automations with their switches, and the templates for new ones. */
export function listView(list: ListView): TemplateResult {
  const texts = words.value;
  const { entries, mayEdit } = list;
  return html`${pauseView(list)}
  ${
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
                  <a href="#/automations/new/${id}" .style=${`--hue: var(--mantel-hue-${hue})`}>
                    <mantel-icon name=${icon}></mantel-icon><b>${name}</b><span>${hint}</span>
                  </a>
                </li>`,
            )}
          </ul>
          <a class="pill" href="#/automations/import">${texts.importFiles}</a>
        </section>`
      : nothing
  }`;
}

const SNOOZE_MS = 2 * 3_600_000;

/** The switch for all automations. */
function pauseView(list: ListView): unknown {
  const { entries, pause, home, mayControl, onPause, onResume } = list;
  const texts = words.value;
  const button = (text: string, act: () => void): TemplateResult =>
    html`<button type="button" class="pill" @click=${act}>${text}</button>`;
  if (pause) {
    const { until } = pause;
    const text =
      until === undefined ? texts.allOff : texts.allOffUntil(home.fmt.time(Date.parse(until)));
    return html`<p class="said failed">
      ${text} ${mayControl ? button(texts.switchAllOn, onResume) : nothing}
    </p>`;
  }
  if (!mayControl || entries.length === 0) return nothing;
  return html`<div class="all">
    ${button(texts.snooze, () => onPause(SNOOZE_MS))} ${button(texts.switchAllOff, () => onPause())}
  </div>`;
}

function emptyTemplate(): ReturnType<typeof templates>[number] {
  const { empty, emptyHint } = words.value;
  return { id: "empty", icon: "mdi:plus", hue: "info", name: empty, hint: emptyHint };
}

function rowView(entry: AutomationEntry, list: ListView): TemplateResult {
  const { id, name, kind, enabled, offUntil, lastRunAt, error } = entry;
  const texts = words.value;
  const { home, mayEdit, onSwitch, onSnooze } = list;
  const last =
    lastRunAt === undefined
      ? texts.neverRan
      : texts.lastRun(home.fmt.relative(Date.parse(lastRunAt)));
  const off =
    offUntil === undefined ? texts.isOff : texts.isOffUntil(home.fmt.time(Date.parse(offUntil)));
  const facts = [kind === "code" ? texts.asCode : "", enabled ? "" : off, last];
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
      mayEdit && enabled
        ? html`<button
            type="button"
            class="pill"
            aria-label=${texts.snoozeNamed(name)}
            @click=${() => onSnooze(entry, SNOOZE_MS)}
          >
            ${texts.snoozeOne}
          </button>`
        : nothing
    }
    ${mayEdit ? onOffSwitch(name, enabled, (isOn) => onSwitch(entry, isOn)) : nothing}
  </li>`;
}

import { defineWidget, type ModuleStatus, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { html, nothing, render, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const settings = { onlyTroubles: s.bool({ title: "Only what needs a look" }) };
type Context = WidgetContext<typeof settings, unknown>;
type State = ModuleStatus["state"];

/** How a state is drawn and called. Colour is never alone: the word stands beside it. */
const STATES: Readonly<Record<State, { hue: string; word: string; trouble?: boolean }>> = {
  active: { hue: "ok", word: "works" },
  reloading: { hue: "info", word: "is reloaded" },
  loading: { hue: "info", word: "starts" },
  stopping: { hue: "info", word: "stops" },
  unconfigured: { hue: "info", word: "needs to be set up" },
  disabled: { hue: "", word: "is switched off" },
  degraded: { hue: "warn", word: "works in part", trouble: true },
  failed: { hue: "alert", word: "has failed", trouble: true },
  quarantined: { hue: "alert", word: "has failed too often", trouble: true },
};

export default defineWidget({
  name: "Modules",
  icon: "mdi:puzzle-outline",
  size: { default: [4, 8], min: [3, 4] },
  texts: {
    de: {
      Modules: "Module",
      "Only what needs a look": "Nur was Aufmerksamkeit braucht",
      works: "läuft",
      "is reloaded": "wird neu geladen",
      starts: "startet",
      stops: "endet",
      "needs to be set up": "noch nicht eingerichtet",
      "is switched off": "ausgeschaltet",
      "works in part": "läuft zum Teil",
      "has failed": "ausgefallen",
      "has failed too often": "zu oft ausgefallen",
      "all well": "alles in Ordnung",
      "one needs a look": "eines braucht Aufmerksamkeit",
      "{count} need a look": "{count} brauchen Aufmerksamkeit",
      "Everything works.": "Alles läuft.",
    },
  },
  settings,
  styles: cardStyles + styles,
  mount(root, ctx) {
    const modules = ctx.channel("modules");
    ctx.effect(() => void render(card(ctx, modules.value ?? []), root));
  },
});

function card(ctx: Context, modules: readonly ModuleStatus[]): TemplateResult {
  const { t, online, settings: own } = ctx;
  const troubles = modules.filter(isTrouble);
  const calm = modules.filter((module) => !isTrouble(module));
  const shown = own.value.onlyTroubles ? troubles : [...troubles, ...calm];
  return html`<section class="card ${online.value ? "" : "stale"}" aria-label=${t("Modules")}>
    <div class="head">
      <span class="title">${t("Modules")}</span>
      <span class="note" role="status">${summary(ctx, troubles.length)}</span>
    </div>
    ${shown.length === 0 ? html`<p class="empty">${t("Everything works.")}</p>` : nothing}
    <ul tabindex="0" aria-label=${t("Modules")}>
      ${repeat(
        shown,
        ({ id }) => id,
        (module) => row(ctx, module),
      )}
    </ul>
  </section>`;
}

function isTrouble({ state }: ModuleStatus): boolean {
  return STATES[state].trouble === true;
}

function summary({ t, fmt }: Context, troubles: number): string {
  if (troubles === 0) return t("all well");
  if (troubles === 1) return t("one needs a look");
  return t("{count} need a look", { count: fmt.number(troubles) });
}

function row({ t, fmt }: Context, module: ModuleStatus): TemplateResult {
  const { name, state, error, progress, resources } = module;
  const { hue, word } = STATES[state];
  const { memoryBytes } = resources;
  const said = progress ?? (isTrouble(module) ? error?.message : undefined);
  return html`<li .style=${hue === "" ? "" : `--hue: var(--mantel-hue-${hue})`}>
    <i class=${hue === "" ? "off" : ""}></i>
    <b>${name}</b>
    <span>${t(word)}</span>
    <span class="figure">${memoryBytes === null ? "" : fmt.unit(memoryBytes, "bytes")}</span>
    ${said ? html`<small>${said}</small>` : nothing}
  </li>`;
}

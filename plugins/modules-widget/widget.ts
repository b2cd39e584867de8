import { defineWidget, type ModuleStatus, s, type WidgetContext } from "@mantel/plugin-sdk/widget";
import { html, nothing, render, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import styles from "./widget.css";
import cardStyles from "@mantel/plugin-sdk/ui/card.css";

const settings = { onlyTroubles: s.bool({ title: "Only modules with problems" }) };
type Context = WidgetContext<typeof settings, unknown>;
type State = ModuleStatus["state"];

/** Colour and word for each state. The word is always shown, so that colour is not the only cue. */
const STATES: Readonly<Record<State, { hue: string; word: string; trouble?: boolean }>> = {
  active: { hue: "ok", word: "running" },
  reloading: { hue: "info", word: "reloading" },
  loading: { hue: "info", word: "starting" },
  stopping: { hue: "info", word: "stopping" },
  unconfigured: { hue: "info", word: "not set up" },
  disabled: { hue: "", word: "off" },
  degraded: { hue: "warn", word: "degraded", trouble: true },
  failed: { hue: "alert", word: "failed", trouble: true },
  quarantined: { hue: "alert", word: "stopped after crashes", trouble: true },
};

export default defineWidget({
  name: "Modules",
  icon: "mdi:puzzle-outline",
  size: { default: [4, 8], min: [3, 4] },
  texts: {
    de: {
      Modules: "Module",
      "Only modules with problems": "Nur Module mit Problemen",
      running: "läuft",
      reloading: "wird neu geladen",
      starting: "startet",
      stopping: "wird beendet",
      "not set up": "nicht eingerichtet",
      off: "aus",
      degraded: "eingeschränkt",
      failed: "fehlgeschlagen",
      "stopped after crashes": "nach Abstürzen gestoppt",
      "no problems": "keine Probleme",
      "1 problem": "1 Problem",
      "{count} problems": "{count} Probleme",
      "All modules are running.": "Alle Module laufen.",
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
  const problems = modules.filter(isProblem);
  const calm = modules.filter((module) => !isProblem(module));
  const shown = own.value.onlyTroubles ? problems : [...problems, ...calm];
  return html`<section class="card ${online.value ? "" : "stale"}" aria-label=${t("Modules")}>
    <div class="head">
      <span class="title">${t("Modules")}</span>
      <span class="note" role="status">${summary(ctx, problems.length)}</span>
    </div>
    ${shown.length === 0 ? html`<p class="empty">${t("All modules are running.")}</p>` : nothing}
    <ul tabindex="0" aria-label=${t("Modules")}>
      ${repeat(
        shown,
        ({ id }) => id,
        (module) => row(ctx, module),
      )}
    </ul>
  </section>`;
}

function isProblem({ state }: ModuleStatus): boolean {
  return STATES[state].trouble === true;
}

function summary({ t, fmt }: Context, problems: number): string {
  if (problems === 0) return t("no problems");
  if (problems === 1) return t("1 problem");
  return t("{count} problems", { count: fmt.number(problems) });
}

function row({ t, fmt }: Context, module: ModuleStatus): TemplateResult {
  const { name, state, error, progress, resources } = module;
  const { hue, word } = STATES[state];
  const { memoryBytes } = resources;
  const detail = progress ?? (isProblem(module) ? error?.message : undefined);
  return html`<li .style=${hue === "" ? "" : `--hue: var(--mantel-hue-${hue})`}>
    <i class=${hue === "" ? "off" : ""}></i>
    <b>${name}</b>
    <span>${t(word)}</span>
    <span class="figure">${memoryBytes === null ? "" : fmt.unit(memoryBytes, "bytes")}</span>
    ${detail ? html`<small>${detail}</small>` : nothing}
  </li>`;
}

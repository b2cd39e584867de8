import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { type Fact, factsView } from "./facts.ts";
import type { OpenSettingsPage, SettingsDependencies } from "./page.ts";
import { restartButton } from "./restart-button.ts";
import { words } from "./words.ts";

interface Health {
  readonly status: string;
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly modules: { readonly active: number; readonly failed: number };
}

/** The running version, and links to documentation. */
export function aboutPage(parts: SettingsDependencies): OpenSettingsPage {
  const { api, formAction } = parts;
  const health = signal<Health | undefined>(undefined);
  api.get("/health").then(
    (answer) => (health.value = answer),
    (error: unknown) => formAction.fail(error),
  );
  return {
    view: () =>
      health.value
        ? html`${healthView(health.value, api.address(""))}
          ${parts.mayAdminister ? html`<div class="actions">${restartButton(parts)}</div>` : nothing}`
        : nothing,
  };
}

function healthView({ version, uptimeSeconds, modules }: Health, api: string): TemplateResult {
  const texts = words.value;
  const facts: Fact[] = [
    [texts.version, version],
    [
      texts.uptime,
      texts.hours(Math.floor(uptimeSeconds / 3600), Math.floor(uptimeSeconds / 60) % 60),
    ],
    [texts.modules, texts.moduleCounts(modules.active, modules.failed)],
    [texts.address, location.origin],
    [texts.placeNames, "GeoNames (CC BY 4.0)"],
  ];
  return html`${factsView("Mantel", facts)}
    <p><a class="link" href="${api}/docs">${texts.apiDocs}</a></p>`;
}

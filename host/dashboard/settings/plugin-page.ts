import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import type { PluginView } from "../../api/plugin.ts";
import { titleIn } from "../i18n/language.ts";
import { type Fact, factsView } from "./facts.ts";
import { formatInstant } from "./figures.ts";
import { markdownView } from "./markdown.ts";
import { addressOf, backTo } from "./page.ts";
import { neededPermissionTexts } from "./permission-words.ts";
import { pathOf, type PluginList } from "./plugin-list.ts";
import { progressView, stateView } from "./plugin-state.ts";
import { words } from "./words.ts";

const README_MS = 10_000;

/** One installed plugin: its version, permissions, README, and what can be done with it. */
export class PluginPage {
  readonly #list: PluginList;
  readonly #id: string;
  readonly #readme = signal("");

  constructor(list: PluginList, id: string) {
    this.#list = list;
    this.#id = id;
    void this.#loadReadme();
  }

  view(): unknown {
    const texts = words.value;
    const back = backTo("plugins", texts.allPlugins);
    const { answer } = this.#list;
    if (!answer) return back;
    const plugin = answer.plugins.find(({ id }) => id === this.#id);
    if (!plugin)
      return html`${back}
        <p>${texts.pluginNotFound}</p>`;
    return html`${back} ${progressView(this.#list)}
      <section class="panel">
        <header>
          <h2 class="titled" dir="auto">
            ${plugin.icon ? html`<img class="plugin-icon" alt="" src=${this.#list.parts.api.address(`${pathOf(plugin.id)}/icon`)} />` : nothing}${titleIn(plugin.id, plugin.title, plugin.titles)}
          </h2>
          ${stateView(plugin.state)}
        </header>
        ${plugin.description === "" ? nothing : html`<p dir="auto">${plugin.description}</p>`}
        ${faultsView(plugin)} ${this.#consent(plugin)}
        <div class="actions">${this.#actions(plugin)}</div>
      </section>
      ${permissionsView(plugin)} ${this.#scripts(plugin)} ${factsView(texts.facts, factsOf(plugin))}
      ${this.#readmeView()} ${this.#removal(plugin)}`;
  }

  #consent(plugin: PluginView): unknown {
    const { consent, running } = plugin;
    if (!consent) return nothing;
    const texts = words.value;
    const { formAction } = this.#list.parts;
    return html`<section>
      <h3>${texts.consentNeeded}</h3>
      <p>${running === null ? texts.startsAfterConsent : texts.previousRunsUntilConsent}</p>
      <p>${texts.requestedPermissions}</p>
      <ul>
        ${neededPermissionTexts(consent).map((each) => html`<li dir="auto">${each}</li>`)}
      </ul>
      <div class="actions">
        ${formAction.button(texts.consent, () => this.#list.consent(plugin), "primary")}
      </div>
    </section>`;
  }

  #actions(plugin: PluginView): TemplateResult {
    const { id, pinned, outdated, latest } = plugin;
    const { formAction } = this.#list.parts;
    const texts = words.value;
    const update = outdated && latest !== null ? texts.updateTo(latest) : texts.updatePlugin;
    const isPossible = !pinned || (outdated && latest !== null);
    return html`${
        isPossible
          ? formAction.button(update, () => this.#list.update(plugin), outdated ? "primary" : "")
          : nothing
      }
      ${formAction.button(pinned ? texts.unpin : texts.pin, () => this.#list.pin(id, !pinned))}
      <a class="link" href=${addressOf("modules", id)}>${texts.optionsAndLog}</a>`;
  }

  /** Dependencies with install scripts, which run outside the sandbox. */
  #scripts(plugin: PluginView): unknown {
    const { wanted, allowed } = plugin.scripts;
    const blocked = wanted.filter((name) => !allowed.includes(name));
    if (blocked.length === 0) return nothing;
    const texts = words.value;
    const allow = () => this.#list.allowScripts(plugin);
    return html`<section class="panel">
      <h2>${texts.installScripts}</h2>
      <p>${texts.installScriptsHint}</p>
      <ul>
        ${blocked.map((name) => html`<li dir="auto">${name}</li>`)}
      </ul>
      <div class="actions">
        ${this.#list.parts.formAction.confirmButton("scripts", texts.allowScripts, allow)}
      </div>
    </section>`;
  }

  #removal({ id, title, titles }: PluginView): TemplateResult {
    const texts = words.value;
    const { formAction } = this.#list.parts;
    return html`<section class="panel">
      <h2>${texts.removePlugin}</h2>
      <p class="hint">${texts.removePluginHint}</p>
      <div class="actions">
        ${formAction.confirmButton("remove", texts.remove(titleIn(id, title, titles)), () => this.#list.remove(id, false))}
        ${formAction.confirmButton("purge", texts.removeWithData, () => this.#list.remove(id, true))}
      </div>
    </section>`;
  }

  #readmeView(): unknown {
    if (this.#readme.value === "") return nothing;
    return html`<section class="panel">
      <h2>README</h2>
      <div class="readme" role="region" tabindex="0" aria-label="README" dir="auto">
        ${markdownView(this.#readme.value)}
      </div>
    </section>`;
  }

  async #loadReadme(): Promise<void> {
    try {
      const { api } = this.#list.parts;
      const path = `${pathOf(this.#id)}/readme`;
      const answer = await api.open(path, { signal: AbortSignal.timeout(README_MS) });
      this.#readme.value = await answer.text();
    } catch {
      this.#readme.value = ""; // most likely it has none
    }
  }
}

function faultsView({ error, consent, rejected }: PluginView): unknown {
  const texts = words.value;
  return html`${error && !consent ? html`<p class="said failed" dir="auto">${error.message}</p>` : nothing}
  ${
    rejected
      ? html`<p class="said failed" dir="auto">
          ${texts.updateRejected(rejected.version)} ${rejected.reason}
        </p>`
      : nothing
  }`;
}

function permissionsView({
  permissions: { words: needed, requested },
  unused,
}: PluginView): unknown {
  const texts = words.value;
  const list = neededPermissionTexts({ needed, permissions: requested });
  return html`<section class="panel">
    <h2>${texts.permissions}</h2>
    ${
      list.length === 0
        ? html`<p>${texts.noPermissionsRequested}</p>`
        : html`<p>${texts.requestedPermissions}</p>
            <ul>
              ${list.map((each) => html`<li dir="auto">${each}</li>`)}
            </ul>`
    }
    ${unused && unused.permissions.length > 0 ? unusedView(unused) : nothing}
  </section>`;
}

/** The permissions that the plugin asks for and has not used. */
function unusedView({ since, words: needed, permissions }: NonNullable<PluginView["unused"]>) {
  return html`<p>${words.value.unusedSince(formatInstant(since))}</p>
    <ul>
      ${neededPermissionTexts({ needed, permissions }).map((each) => html`<li dir="auto">${each}</li>`)}
    </ul>`;
}

function factsOf(plugin: PluginView): Fact[] {
  const texts = words.value;
  const { version, running, latest, previous, pinned } = plugin;
  return [
    [texts.version, pinned ? `${version} · ${texts.isPinned}` : version],
    ...(running !== null && running !== version ? [[texts.running, running] as const] : []),
    ...(latest === null ? [] : [[texts.newestVersion, latest] as const]),
    ...(previous === null ? [] : [[texts.previousVersion, previous] as const]),
    [texts.package, plugin.name],
    [texts.pluginSource, plugin.source],
    [texts.installedAt, formatInstant(plugin.installedAt)],
    [texts.integrity, plugin.integrity ?? texts.linkedFolder],
  ];
}

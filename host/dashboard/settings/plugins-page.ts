import { html, nothing, type TemplateResult } from "lit";
import type { FoundPackage, PluginView } from "../../api/plugin.ts";
import { titleIn } from "../i18n/language.ts";
import { formValue } from "./form-value.ts";
import { addressOf, type OpenSettingsPage, type SettingsDependencies } from "./page.ts";
import { pathOf, PluginList } from "./plugin-list.ts";
import { PluginPage } from "./plugin-page.ts";
import { progressView, stateView } from "./plugin-state.ts";
import { words } from "./words.ts";

/** The installed plugins, search and installation; or one plugin by its id. */
export function pluginsPage(parts: SettingsDependencies, item: string): OpenSettingsPage {
  const list = new PluginList(parts);
  if (item !== "") {
    const page = new PluginPage(list, item);
    return { view: () => page.view(), close: list.close };
  }
  return {
    view: () => html`${progressView(list)} ${listView(list)} ${addView(list)} ${searchView(list)}`,
    close: list.close,
  };
}

function listView(list: PluginList): TemplateResult {
  const texts = words.value;
  const plugins = list.answer?.plugins;
  if (plugins?.length === 0) return html`<p class="hint">${texts.noPlugins}</p>`;
  return html`<ul class="rows">
    ${plugins?.map((plugin) => rowOf(list, plugin))}
  </ul>`;
}

function rowOf(list: PluginList, plugin: PluginView): TemplateResult {
  const { id, title, titles, version, source, consent, outdated, latest, state, icon } = plugin;
  const texts = words.value;
  const note = consent ? texts.consentNeeded : plugin.error?.message;
  return html`<li>
    <a class="row" href=${addressOf("plugins", id)}>
      ${icon ? html`<img class="plugin-icon" alt="" src=${list.parts.api.address(`${pathOf(id)}/icon`)} />` : nothing}
      <span class="grow">
        <strong dir="auto">${titleIn(id, title, titles)}</strong>
        <small dir="auto">${version} · ${source}</small>
        ${note === undefined ? nothing : html`<small dir="auto">${note}</small>`}
      </span>
      ${outdated ? html`<span class="state warn">${texts.updateTo(latest ?? "")}</span>` : nothing}
      ${stateView(state)}
    </a>
  </li>`;
}

function addView(list: PluginList): TemplateResult {
  const texts = words.value;
  const add = (event: SubmitEvent): void => {
    event.preventDefault();
    list.parts.formAction.leave();
    list.install(formValue(event.currentTarget, "source").trim());
  };
  return html`<form class="panel form" @submit=${add}>
    <h2>${texts.addPlugin}</h2>
    <p class="hint">${texts.addPluginHint}</p>
    <div class="field">
      <label for="plugin-source">${texts.pluginSource}</label>
      <input
        id="plugin-source"
        name="source"
        required
        maxlength="500"
        autocapitalize="off"
        spellcheck="false"
        placeholder="mantel-plugin-…"
      />
    </div>
    <div class="actions">
      <button class="button primary" ?disabled=${list.parts.formAction.busy.value}>
        ${texts.install}
      </button>
    </div>
  </form>`;
}

function searchView(list: PluginList): TemplateResult {
  const texts = words.value;
  const search = (event: SubmitEvent): void => {
    event.preventDefault();
    list.parts.formAction.leave();
    list.search(formValue(event.currentTarget, "query").trim());
  };
  const found = list.found.value;
  return html`<form class="panel form" @submit=${search}>
    <h2>${texts.findPlugins}</h2>
    <div class="field">
      <label for="plugin-query">${texts.search}</label>
      <input id="plugin-query" name="query" type="search" maxlength="200" />
    </div>
    <div class="actions">
      <button class="button" ?disabled=${list.parts.formAction.busy.value}>${texts.search}</button>
    </div>
    ${found?.length === 0 ? html`<p class="hint">${texts.nothingFound}</p>` : nothing}
    <ul class="rows">
      ${found?.map((each) => foundView(list, each))}
    </ul>
  </form>`;
}

function foundView(list: PluginList, found: FoundPackage): TemplateResult {
  const { name, version, description, publisher, installed } = found;
  const texts = words.value;
  const by = publisher === null ? "" : ` · ${publisher}`;
  return html`<li class="row">
    <span class="grow">
      <strong dir="auto">${name}</strong>
      <small dir="auto">${version}${by}</small>
      <small dir="auto">${description}</small>
    </span>
    ${
      installed === null
        ? list.parts.formAction.button(texts.install, () => list.install(name))
        : html`<span class="state ok">${texts.isInstalled}</span>`
    }
  </li>`;
}

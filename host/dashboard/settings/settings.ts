import { effect, signal, untracked } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import type { Api } from "../api.ts";
import type { Store } from "../store.ts";
import { titles } from "../title.ts";
import { FormAction } from "./form-action.ts";
import { addressOf, type OpenSettingsPage, type SettingsDependencies } from "./page.ts";
import { type PageEntry, PAGES, pagesOf } from "./pages.ts";
import { SettingsSearch } from "./search.ts";
import { words } from "./words.ts";
import formStyles from "../form/form.css";
import choiceStyles from "./choices.css";
import contentStyles from "./content.css";
import styles from "./settings.css";

interface Shown {
  /** The page in the address, such as `modules/calendar`. */
  readonly name: string;
  readonly entry: PageEntry;
  readonly page: OpenSettingsPage;
}

/**
 * Shows the settings in place of the dashboard, which keeps running below. The address selects the
 * page; `show` follows it, and `close` returns to the dashboard.
 */
export class Settings {
  readonly #root: HTMLElement;
  readonly #element = document.createElement("div");
  readonly #parts: SettingsDependencies;
  readonly #shown = signal<Shown | undefined>(undefined);
  /** True for the address of the menu, which a phone shows alone. A wide screen shows the first page beside it. */
  readonly #isMenu = signal(false);
  readonly #search: SettingsSearch;
  readonly #before = document.activeElement;
  readonly #end: () => void;

  constructor(
    root: HTMLElement,
    { api, store, mayAdminister }: { api: Api; store: Store; mayAdminister: boolean },
  ) {
    this.#root = root;
    this.#parts = { api, store, mayAdminister, formAction: new FormAction() };
    this.#search = new SettingsSearch(this.#parts);
    adoptStyles();
    this.#element.addEventListener("input", this.#onInput);
    addEventListener("beforeunload", this.#onUnload);
    addEventListener("keydown", this.#onKey);
    this.#element.className = "settings";
    root.hidden = true;
    root.after(this.#element);
    this.#end = effect(() => void render(this.#view(), this.#element));
  }

  /** True if unsaved input would be lost. Warns the user once. */
  warnsOfUnsaved(): boolean {
    return this.#parts.formAction.warnsOfUnsaved();
  }

  show(id: string, item: string): void {
    const entry = PAGES.find((each) => each.id === id) ?? PAGES[0];
    if (!entry) return;
    this.#shown.peek()?.page.close?.();
    this.#search.clear();
    this.#parts.formAction.clear();
    this.#parts.formAction.leave();
    this.#shown.value = untracked(() => ({
      name: item === "" ? entry.id : `${entry.id}/${item}`,
      entry,
      page: this.#opened(entry, item),
    }));
    this.#isMenu.value = id === "";
    this.#element.classList.toggle("in-menu", id === "");
    scrollTo(0, 0);
    this.#element.querySelector("h1")?.focus();
  }

  #opened(entry: PageEntry, item: string): OpenSettingsPage {
    if (this.#parts.mayAdminister || !entry.needsFullAccess) return entry.open(this.#parts, item);
    return { view: () => html`<p class="hint">${words.value.pageNeedsFullAccess}</p>` };
  }

  close(): void {
    this.#end();
    removeEventListener("beforeunload", this.#onUnload);
    removeEventListener("keydown", this.#onKey);
    this.#shown.peek()?.page.close?.();
    this.#element.remove();
    titles.over.value = "";
    this.#root.hidden = false;
    if (this.#before instanceof HTMLElement) this.#before.focus();
  }

  readonly #onInput = ({ target }: Event): void => {
    if (target instanceof Element && target.closest(".form")) this.#parts.formAction.type();
  };

  /** Ctrl-K, or / outside of a field, goes to the search. */
  readonly #onKey = (event: KeyboardEvent): void => {
    const { key, ctrlKey, metaKey, target } = event;
    const isTyping = target instanceof Element && target.matches("input, select, textarea");
    const isShortcut = key.toLowerCase() === "k" && (ctrlKey || metaKey);
    if (!isShortcut && (key !== "/" || isTyping)) return;
    event.preventDefault();
    this.#element.querySelector<HTMLElement>(".find input")?.focus();
  };

  readonly #onUnload = (event: Event): void => {
    if (this.#parts.formAction.hasUnsaved) event.preventDefault();
  };

  /** The address and title of the page that leads to a page on a phone. */
  #above({ below }: PageEntry): [href: string, title: string] {
    const above = PAGES.find(({ id }) => id === below);
    return above
      ? [addressOf(above.id), words.value[above.title]]
      : ["#/settings", words.value.settings];
  }

  #view(): unknown {
    const shown = this.#shown.value;
    if (!shown) return nothing;
    const { entry, page } = shown;
    titles.over.value = words.value[entry.title];
    const inMenu = entry.below ?? entry.id;
    const isMenu = this.#isMenu.value;
    return html`<nav aria-label=${words.value.settings}>
        <div class="nav-head">
          ${backLink("#", words.value.back, isMenu ? "" : "on-wide")}
          ${isMenu ? nothing : backLink(...this.#above(entry), "on-phone")}
          <strong>${words.value.settings}</strong>
        </div>
        ${this.#search.inputView()}
        ${
          this.#search.isActive
            ? this.#search.resultsView()
            : html`<div class="menu">
                ${pagesOf(this.#parts)
                  .filter(({ below }) => below === undefined)
                  .map((each) => linkTo(each, each.id === inMenu, this.#parts.store))}
              </div>`
        }
      </nav>
      <main data-page=${shown.name} aria-busy=${this.#parts.formAction.busy.value}>
        <h1 tabindex="-1">
          <span class=${isMenu ? "on-wide" : ""}>${words.value[entry.title]}</span>
          ${isMenu ? html`<span class="on-phone">${words.value.settings}</span>` : nothing}
        </h1>
        ${this.#parts.formAction.notice()} ${page.view()}
      </main>`;
  }
}

/** A link that is shown on wide screens or phones only, or on both. */
function backLink(href: string, label: string, on: "on-wide" | "on-phone" | ""): TemplateResult {
  return html`<a class="back ${on}" href=${href} aria-label=${label}>
    <mantel-icon name="mdi:arrow-left" class="turned"></mantel-icon>
  </a>`;
}

function linkTo(
  { id, icon, title, startsGroup = false, note }: PageEntry,
  isCurrent: boolean,
  store: Store,
): TemplateResult {
  return html`${startsGroup ? html`<hr />` : nothing}<a
      href=${addressOf(id)}
      aria-current=${isCurrent ? "page" : nothing}
    >
      <mantel-icon name=${icon}></mantel-icon>${words.value[title]}
      <span class="note on-phone">${note?.(store)}</span>
    </a>`;
}

let adopted = false;

/** Adds the styles to the page once. They stay loaded. */
function adoptStyles(): void {
  if (adopted) return;
  adopted = true;
  for (const text of [formStyles, styles, choiceStyles, contentStyles]) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets.push(sheet);
  }
}

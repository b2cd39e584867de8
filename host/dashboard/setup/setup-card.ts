import { effect, signal } from "@preact/signals-core";
import { html, nothing, render, type TemplateResult } from "lit";
import type { Session } from "../session.ts";
import { findAdder } from "../settings/find-adder.ts";
import { placePatch, TownSearch } from "./town-search.ts";
import { words } from "./words.ts";
import styles from "./setup-card.css";
import baseStyles from "@mantel/plugin-sdk/ui/base.css";

type Visit = Pick<Session, "api" | "store">;

let visit: Visit | undefined;

/**
 * `<mantel-setup kind="place">` or `kind="calendar"`: a card with which the user sets up what a tile lacks, where the
 * result will appear. A tile puts it in place of its content, with a text inside for users who may not set it up.
 */
class SetupCard extends HTMLElement {
  readonly #fault = signal("");
  readonly #isBusy = signal(false);
  #end: (() => void) | undefined;

  connectedCallback(): void {
    if (!visit) return;
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    const sheets = [baseStyles, styles].map((css) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      return sheet;
    });
    root.adoptedStyleSheets = sheets;
    const view = this.getAttribute("kind") === "calendar" ? this.#calendar() : this.#place(visit);
    this.#end = effect(
      () => void render(html`<section>${view()}${this.#faultView()}</section>`, root),
    );
  }

  disconnectedCallback(): void {
    this.#end?.();
  }

  #place({ api }: Visit): () => TemplateResult {
    const search = new TownSearch({
      api,
      id: "town",
      choose: (town) => this.#run(() => api.send("PATCH", "/config", placePatch(town))),
    });
    return () =>
      html`<h2>${words.value.addTown}</h2>
        <p class="hint">${words.value.townHint}</p>
        ${search.view()}`;
  }

  #calendar(): () => TemplateResult {
    return () => {
      const texts = words.value;
      return html`<h2>${texts.addCalendar}</h2>
        <p class="hint">${texts.calendarHint}</p>
        <form @submit=${(event: SubmitEvent) => this.#addCalendar(event)}>
          <input
            name="url"
            type="text"
            inputmode="url"
            autocomplete="off"
            spellcheck="false"
            required
            maxlength="2000"
            aria-label=${texts.calendarLink}
            placeholder=${texts.calendarExample}
          />
          <button ?disabled=${this.#isBusy.value}>${texts.add}</button>
        </form>
        <a href="#/settings/calendars">${texts.moreCalendars}</a>`;
    };
  }

  #addCalendar(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const url = form.querySelector("input")?.value.trim() ?? "";
    if (!/^(https?|webcals?):\/\/\S+$/.test(url)) {
      this.#fault.value = words.peek().notALink;
      return;
    }
    this.#run(async ({ api, store }) => {
      const adder = findAdder(store.modules().peek(), "calendar");
      if (!adder) throw new Error(words.peek().noCalendars);
      const { options } = await api.get(adder.config);
      const id = freeId(Object.keys(options[adder.option] ?? {}));
      const source = { name: words.peek().calendarName, url };
      await api.send("PATCH", adder.config, { [adder.option]: { [id]: source } });
    });
  }

  /** Runs a change. The card goes when the tile has what it needs. */
  #run(work: (visit: Visit) => Promise<unknown>): void {
    if (!visit || this.#isBusy.peek()) return;
    this.#isBusy.value = true;
    this.#fault.value = "";
    work(visit)
      .catch((error: unknown) => {
        this.#fault.value = error instanceof Error ? error.message : String(error);
      })
      .finally(() => (this.#isBusy.value = false));
  }

  #faultView(): TemplateResult {
    const fault = this.#fault.value;
    return html`<div role="alert">
      ${fault === "" ? nothing : html`<p class="fault" dir="auto">${fault}</p>`}
    </div>`;
  }
}

function freeId(taken: readonly string[]): string {
  let number = 1;
  while (taken.includes(`calendar-${number}`)) number++;
  return `calendar-${number}`;
}

/** Shows the cards in tiles from now on. */
export function defineSetupCards(session: Visit): void {
  visit = session;
  if (!customElements.get("mantel-setup")) customElements.define("mantel-setup", SetupCard);
}

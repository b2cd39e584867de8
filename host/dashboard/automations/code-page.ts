import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { type Api, ApiError } from "../api.ts";
import type { Message } from "./automation-editor.ts";
import {
  type AutomationEntry,
  partsIn,
  type SectionName,
  type Trace,
  tracesIn,
} from "./document.ts";
import type { HomeView } from "./home.ts";
import { PastRun } from "./past-run.ts";
import { phraseOf } from "./phrases.ts";
import { pathOf, reasonOf } from "./requests.ts";
import { tracesView } from "./trace-view.ts";
import { verdictOf } from "./truth.ts";
import { words } from "./words.ts";

const NOTHING = { triggers: [], conditions: [], actions: [] };

/** The page of an automation that is code: when it starts, its last runs, and a run by hand. */
export class CodePage {
  readonly #api: Api;
  readonly #home: HomeView;
  readonly #mayControl: boolean;
  readonly entry: AutomationEntry;
  readonly #past: PastRun;
  readonly #message = signal<Message | undefined>(undefined);
  readonly #busy = signal(false);
  /** False for a file that could not be loaded. */
  readonly #isLoaded = signal(false);
  /** Its triggers and conditions. The actions are in the file. */
  readonly document = signal<Readonly<Record<SectionName, ReturnType<typeof partsIn>>>>(NOTHING);
  /** The last runs, the newest first. */
  readonly traces = signal<readonly Trace[]>([]);
  /** The id of the run that is shown; absent means the last one. */
  readonly shownTrace = signal<string | undefined>(undefined);

  constructor(
    { api, mayControl }: { readonly api: Api; readonly mayControl: boolean },
    home: HomeView,
    entry: AutomationEntry,
  ) {
    this.#api = api;
    this.#home = home;
    this.#mayControl = mayControl;
    this.entry = entry;
    this.#past = new PastRun(api, () => ({ id: entry.id }));
  }

  /** Reads its triggers, conditions and runs. A file that could not be loaded has none. @throws ApiError */
  async load(): Promise<void> {
    try {
      const { triggers, conditions } = await this.#api.get(pathOf(this.entry.id));
      const read = { triggers: partsIn(triggers), conditions: partsIn(conditions), actions: [] };
      this.document.value = read;
      this.#isLoaded.value = true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return;
      throw error;
    }
    await this.readTraces();
  }

  /** Reads the last runs again. Without an answer the known ones stay. */
  async readTraces(): Promise<void> {
    if (!this.#isLoaded.peek()) return;
    try {
      this.traces.value = tracesIn(await this.#api.get(`${pathOf(this.entry.id)}/traces`));
    } catch (error) {
      console.warn("could not read the runs of an automation", error);
    }
  }

  /** Runs its function once, without the conditions. */
  async run(): Promise<void> {
    const texts = words.peek();
    this.#busy.value = true;
    try {
      await this.#api.post(`${pathOf(this.entry.id)}/run`);
      this.shownTrace.value = undefined;
      this.#message.value = { text: texts.started, failed: false };
      await this.readTraces();
    } catch (error) {
      this.#message.value = { text: texts.notStarted(reasonOf(error)), failed: true };
    } finally {
      this.#busy.value = false;
    }
  }

  view(): TemplateResult {
    const texts = words.value;
    const { name, error } = this.entry;
    const isLoaded = this.#isLoaded.value;
    return html`<main aria-busy=${this.#busy.value}>
        <header class="head">
          <a class="round" href="#/automations" aria-label=${texts.backToList}>
            <mantel-icon name="mdi:arrow-left" class="turned"></mantel-icon>
          </a>
          <h1 tabindex="-1" dir="auto">${name}</h1>
        </header>
        ${this.#messageView()}
        <p class="hint">${texts.codeHint}</p>
        ${error === undefined ? nothing : html`<p class="fault">${error}</p>`}
        ${isLoaded ? this.#sentenceView() : nothing} ${isLoaded ? this.#verdictView() : nothing}
      </main>
      ${isLoaded ? tracesView(this, this.#home, this.#past.view(this.document.value.triggers, this.#home)) : nothing}`;
  }

  #messageView(): TemplateResult {
    const message = this.#message.value;
    const text = message
      ? html`<p class=${message.failed ? "said failed" : "said"}>${message.text}</p>`
      : nothing;
    return html`<div class="outcome">
      <div role="alert">${message?.failed ? text : nothing}</div>
      <div role="status">${message?.failed ? nothing : text}</div>
    </div>`;
  }

  /** Its triggers and conditions in words. */
  #sentenceView(): TemplateResult {
    const texts = words.value;
    const { triggers, conditions } = this.document.value;
    const lines = [
      { start: texts.when, section: "triggers", parts: triggers, join: texts.orWhen },
      { start: texts.if, section: "conditions", parts: conditions, join: texts.and },
    ] as const;
    return html`<div class="in-words">
      ${lines.map(({ start, section, parts, join }) => {
        const phrases = parts.map((part) => phraseOf(section, part, this.#home).text);
        if (phrases.length === 0) return nothing;
        return html`<p dir="auto"><span>${start}</span> ${phrases.join(` ${join} `)}</p>`;
      })}
    </div>`;
  }

  #verdictView(): TemplateResult {
    const texts = words.value;
    return html`<footer class="verdict">
      <p>
        <b>${verdictOf(this.document.value.conditions, this.#home)}</b>
        <span>${texts.tryHint}</span>
      </p>
      ${
        this.#mayControl
          ? html`<button
              type="button"
              class="pill strong"
              ?disabled=${this.#busy.value}
              @click=${() => void this.run()}
            >
              <mantel-icon name="mdi:play"></mantel-icon>${texts.tryNow}
            </button>`
          : nothing
      }
    </footer>`;
  }
}

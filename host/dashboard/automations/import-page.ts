import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../api.ts";
import type { HomeView } from "./home.ts";
import { words } from "./import-words.ts";
import { reasonOf } from "./requests.ts";

/** The answer of `GET /automations/import`: the system whose files the plugin converts. */
interface Origin {
  readonly name: string;
  readonly files: readonly string[];
}

/** The answer of `POST /automations/import`. */
interface Answer {
  readonly automations: readonly {
    readonly name: string;
    readonly kind: "automation" | "script";
    readonly result: "whole" | "partial" | "none";
    readonly reasons: readonly { readonly place: string; readonly detail: string }[];
    readonly notes: readonly string[];
    readonly exists: boolean;
    readonly stored: readonly string[];
  }[];
  readonly entities: readonly {
    readonly entity: string;
    readonly kind: "device" | "scene" | "calendar";
    readonly device: string | null;
    readonly candidates: readonly string[];
  }[];
}

/** The page that turns files of another system into automations. */
export class ImportPage {
  readonly #api: Api;
  readonly #home: HomeView;
  /** Undefined until it is read, or if the plugin does not tell it. */
  readonly #origin = signal<Origin | undefined>(undefined);
  /** The contents of the files, which a new preview sends again. */
  #yaml: readonly string[] = [];
  #chosen: Readonly<Record<string, string>> = {};
  /** The entities without a device in the first preview. They stay in the list after a choice. */
  readonly #missing = signal<Answer["entities"]>([]);
  #partial = false;
  readonly #answer = signal<Answer | undefined>(undefined);
  readonly #failure = signal("");
  readonly #isBusy = signal(false);

  constructor(api: Api, home: HomeView) {
    this.#api = api;
    this.#home = home;
    void this.#readOrigin();
  }

  view(): TemplateResult {
    const texts = words.value;
    const answer = this.#answer.value;
    const origin = this.#origin.value;
    return html`${origin ? html`<h2>${texts.title(origin.name)}</h2>` : nothing}
      <form class="import" @submit=${this.#onSubmit} aria-busy=${this.#isBusy.value}>
        ${origin ? html`<p class="hint">${texts.hint(origin.files.join(", "))}</p>` : nothing}
        <label>${texts.files}<input type="file" name="files" accept=".yaml,.yml" multiple /></label>
        <label
          >${texts.content}<textarea name="content" rows="4" spellcheck="false"></textarea>
        </label>
        <button class="pill strong" ?disabled=${this.#isBusy.value}>${texts.preview}</button>
      </form>
      <div role="alert">
        ${this.#failure.value === "" ? nothing : html`<p class="said failed">${texts.failed(this.#failure.value)}</p>`}
      </div>
      ${answer ? this.#answerView(answer) : nothing}`;
  }

  #answerView({ automations }: Answer): TemplateResult {
    const texts = words.value;
    const count = (result: string) => automations.filter((each) => each.result === result).length;
    const stored = automations.reduce((sum, each) => sum + each.stored.length, 0);
    return html`<p role="status">
        ${stored > 0 ? texts.saved(stored) : texts.counts(count("whole"), count("partial"), count("none"))}
      </p>
      ${
        this.#missing.value.length === 0
          ? nothing
          : html`<section class="import">
              <h2>${texts.devices}</h2>
              ${this.#missing.value.map((each) => this.#deviceView(each))}
            </section>`
      }
      <section class="import">
        <label class="choice">
          <input type="checkbox" @change=${this.#onPartial} />${texts.partial}
        </label>
        <button
          type="button"
          class="pill strong"
          ?disabled=${this.#isBusy.value}
          @click=${this.#onSave}
        >
          ${texts.save}
        </button>
      </section>
      <ul class="rows imported">
        ${automations.map((each) => automationView(each))}
      </ul>`;
  }

  #deviceView({ entity, kind, candidates }: Answer["entities"][number]): TemplateResult {
    const texts = words.value;
    const all = this.#things(kind);
    const likely = candidates.flatMap((id) => all.filter((each) => each.id === id));
    const others = all.filter(({ id }) => !candidates.includes(id));
    const choose = (event: Event): void => {
      const { value } = event.target as HTMLSelectElement;
      const { [entity]: _before, ...rest } = this.#chosen;
      this.#chosen = value === "" ? rest : { ...rest, [entity]: value };
      void this.#send(false);
    };
    return html`<label>
      <code>${entity}</code>
      <select aria-label=${texts.device(entity)} @change=${choose}>
        <option value="">${texts.noDevice}</option>
        ${[...likely, ...others].map(({ id, name }) => html`<option value=${id}>${name}</option>`)}
      </select>
    </label>`;
  }

  /** The scenes, calendars or devices among which the one of an entity is. */
  #things(
    kind: Answer["entities"][number]["kind"],
  ): { readonly id: string; readonly name: string }[] {
    const named = (names: ReadonlyMap<string, string>) =>
      [...names].map(([id, name]) => ({ id, name }));
    if (kind === "scene") return named(this.#home.scenes());
    if (kind === "calendar") return named(this.#home.calendars());
    return this.#home.devices().map(({ id, name, room }) => ({
      id,
      name: room === null ? name : `${room}: ${name}`,
    }));
  }

  readonly #onSubmit = (event: Event): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const files = form.querySelector<HTMLInputElement>("input")?.files ?? [];
    const content = form.querySelector("textarea")?.value ?? "";
    void this.#read([...files], content);
  };

  readonly #onPartial = (event: Event): void => {
    this.#partial = (event.target as HTMLInputElement).checked;
  };

  readonly #onSave = (): void => void this.#send(true);

  async #readOrigin(): Promise<void> {
    try {
      const origin: unknown = await this.#api.get("/automations/import");
      this.#origin.value = origin as Origin;
    } catch {
      this.#origin.value = undefined; // the form works without the name of the system
    }
  }

  async #read(files: readonly File[], content: string): Promise<void> {
    const texts = await Promise.all(files.map((file) => file.text()));
    this.#yaml = [...texts, content].filter((each) => each.trim() !== "");
    this.#chosen = {};
    this.#missing.value = [];
    if (this.#yaml.length === 0 || !(await this.#send(false))) return;
    const { entities = [] } = this.#answer.peek() ?? {};
    this.#missing.value = entities.filter(({ device }) => device === null);
  }

  /** Asks for a preview, or stores. Returns true if the host has answered. */
  async #send(store: boolean): Promise<boolean> {
    this.#isBusy.value = true;
    this.#failure.value = "";
    try {
      const answer = await this.#api.post("/automations/import", {
        yaml: this.#yaml,
        devices: this.#chosen,
        partial: this.#partial,
        store,
      });
      this.#answer.value = answer as Answer;
      return true;
    } catch (error) {
      this.#failure.value = reasonOf(error);
      return false;
    } finally {
      this.#isBusy.value = false;
    }
  }
}

function automationView(each: Answer["automations"][number]): TemplateResult {
  const texts = words.value;
  const facts = [
    ...(each.kind === "script" ? [texts.script] : []),
    { whole: texts.whole, partial: texts.inPart, none: texts.notAtAll }[each.result],
    ...(each.stored.length > 0 ? [texts.isStored] : each.exists ? [texts.exists] : []),
  ];
  return html`<li class="row">
    <b dir="auto">${each.name}</b>
    <small>${facts.join(" · ")}</small>
    ${each.reasons.map(({ place, detail }) => html`<small class="fault">${place}: ${detail}</small>`)}
    ${each.notes.map((note) => html`<small>${note}</small>`)}
  </li>`;
}

import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { nameField } from "./named-field.ts";
import type { SettingsParts } from "./page.ts";
import { words } from "./words.ts";

/** Something that was given out under a name, and can be revoked. */
interface Given {
  readonly id: string;
  readonly name: string;
}

interface GivenOutParts<T extends Given> {
  /** Where they are listed and made. */
  readonly path: string;
  /** Where one is revoked. */
  readonly pathOf: (given: T) => string;
  readonly listed: (answer: never) => readonly T[];
  /** What is shown once of the answer to a new one. */
  readonly secretIn: (answer: never) => string;
}

interface NewForm {
  readonly id: string;
  /** Fields beside the name. */
  readonly fields?: unknown;
  readonly bodyOf: (form: HTMLFormElement) => object;
  readonly make: string;
  readonly made: string;
}

/** What is given out by name and seen once, when it is made: a list to revoke from, a form to make one. */
export class GivenOut<T extends Given> {
  readonly items = signal<readonly T[]>([]);
  readonly #page: SettingsParts;
  readonly #parts: GivenOutParts<T>;
  /** Shown until another page is opened. */
  readonly #made = signal<string | undefined>(undefined);

  constructor(page: SettingsParts, parts: GivenOutParts<T>) {
    this.#page = page;
    this.#parts = parts;
    void this.#load().catch((error: unknown) => page.doing.fail(error));
  }

  /** `details` stand below the name. */
  rowOf(given: T, details: unknown, instead?: TemplateResult): TemplateResult {
    const { id, name } = given;
    const revoke = words.value.revoke(name);
    return html`<li class="row">
      <span class="grow"><strong dir="auto">${name}</strong>${details}</span>
      ${instead ?? this.#page.doing.sureButton(id, revoke, () => this.#revoke(given))}
    </li>`;
  }

  formView(asked: NewForm): TemplateResult {
    const { doing } = this.#page;
    const { id, fields, make } = asked;
    return html`<form class="form" @submit=${(event: SubmitEvent) => this.#make(event, asked)}>
      ${nameField(doing, { id: `${id}-name`, maxLength: 64 })} ${fields ?? nothing}
      ${this.#madeView(`${id}-made`)}
      <div class="actions">
        <button class="button primary" ?disabled=${doing.busy.value}>${make}</button>
      </div>
    </form>`;
  }

  #madeView(id: string): TemplateResult | typeof nothing {
    const made = this.#made.value;
    if (made === undefined) return nothing;
    return html`<div class="field">
      <label for=${id}>${words.value.shownOnce}</label>
      <textarea id=${id} readonly rows="3" dir="ltr" .value=${made}></textarea>
    </div>`;
  }

  #make(event: SubmitEvent, { bodyOf, made }: NewForm): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { api, doing } = this.#page;
    void doing.save(async () => {
      const answer = await api.post<never>(this.#parts.path, bodyOf(form));
      form.reset(); // before the secret is shown, which it would empty
      this.#made.value = this.#parts.secretIn(answer);
      await this.#load();
    }, made);
  }

  #revoke(given: T): void {
    const { api, doing } = this.#page;
    void doing.run(async () => {
      await api.delete(this.#parts.pathOf(given));
      await this.#load();
    }, words.value.revoked(given.name));
  }

  async #load(): Promise<void> {
    const { path, listed } = this.#parts;
    this.items.value = listed(await this.#page.api.get<never>(path));
  }
}

import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { nameField } from "./named-field.ts";
import { type NewSecret, newSecretView } from "./new-secret.ts";
import type { SettingsDependencies } from "./page.ts";
import { words } from "./words.ts";

/** A named credential that can be revoked. */
interface Credential {
  readonly id: string;
  readonly name: string;
}

interface CredentialListOptions<T extends Credential> {
  /** The API path for listing and creating. */
  readonly path: string;
  /** The API path for revoking one. */
  readonly pathOf: (given: T) => string;
  readonly listed: (answer: never) => readonly T[];
  /** The secret in the answer to a new one; it is shown once. */
  readonly secretIn: (answer: never) => string;
  /** Further contents of the view of a new secret. */
  readonly aboutSecret?: (secret: string) => Omit<NewSecret, "id" | "text">;
}

interface NewForm {
  readonly id: string;
  /** Fields in addition to the name. */
  readonly fields?: unknown;
  readonly bodyOf: (form: HTMLFormElement) => object;
  readonly make: string;
  readonly made: string;
}

/**
 * Credentials with a list to revoke them and a form to create one. The secret is shown only after
 * creation.
 */
export class CredentialList<T extends Credential> {
  readonly items = signal<readonly T[]>([]);
  readonly #page: SettingsDependencies;
  readonly #parts: CredentialListOptions<T>;
  /** The secret of a new credential, shown until another page opens. */
  readonly #made = signal<string | undefined>(undefined);

  constructor(page: SettingsDependencies, parts: CredentialListOptions<T>) {
    this.#page = page;
    this.#parts = parts;
    void this.#load().catch((error: unknown) => page.formAction.fail(error));
  }

  /** `details` are shown below the title, and `instead` in place of the button that revokes. */
  rowOf(
    given: T,
    details: unknown,
    {
      title = given.name,
      instead,
    }: { readonly title?: string; readonly instead?: TemplateResult | undefined } = {},
  ): TemplateResult {
    const { id, name } = given;
    const revoke = words.value.revoke(name);
    return html`<li class="row">
      <span class="grow"><strong dir="auto">${title}</strong>${details}</span>
      ${instead ?? this.#page.formAction.confirmButton(id, revoke, () => this.#revoke(given))}
    </li>`;
  }

  formView(newForm: NewForm): TemplateResult {
    const { formAction } = this.#page;
    const { id, fields, make } = newForm;
    return html`<form class="form" @submit=${(event: SubmitEvent) => this.#make(event, newForm)}>
      ${nameField(formAction, { id: `${id}-name`, maxLength: 64 })} ${fields ?? nothing}
      ${this.#madeView(`${id}-made`)}
      <div class="actions">
        <button class="button primary" ?disabled=${formAction.busy.value}>${make}</button>
      </div>
    </form>`;
  }

  #madeView(id: string): TemplateResult | typeof nothing {
    const made = this.#made.value;
    if (made === undefined) return nothing;
    return newSecretView({ id, text: made, ...this.#parts.aboutSecret?.(made) });
  }

  #make(event: SubmitEvent, { bodyOf, made }: NewForm): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { api, formAction } = this.#page;
    void formAction.save(async () => {
      const answer = await api.post(this.#parts.path, bodyOf(form));
      form.reset(); // before the secret is shown, because this clears it
      this.#made.value = this.#parts.secretIn(answer as never);
      await this.#load();
    }, made);
  }

  /** Changes a credential, and shows the list again. */
  change(given: T, body: object, done: string): void {
    const { api, formAction } = this.#page;
    void formAction.run(async () => {
      await api.send("PATCH", this.#parts.pathOf(given), body);
      await this.#load();
    }, done);
  }

  #revoke(given: T): void {
    const { api, formAction } = this.#page;
    void formAction.run(async () => {
      await api.delete(this.#parts.pathOf(given));
      await this.#load();
    }, words.value.revoked(given.name));
  }

  async #load(): Promise<void> {
    const { path, listed } = this.#parts;
    this.items.value = listed((await this.#page.api.get(path)) as never);
  }
}

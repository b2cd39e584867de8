import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { formView } from "../form/form.ts";
import { type FieldSchema, translatedSchema } from "../form/schema.ts";
import { pluginText } from "../i18n/language.ts";
import { applied, mergePatch, type Values } from "./merge-patch.ts";
import type { SettingsDependencies } from "./page.ts";
import { suggestionsOf } from "./suggestions.ts";
import { words } from "./words.ts";

interface Stored {
  readonly schema: FieldSchema | null;
  readonly options: Values;
  /** Translations of the plugin's texts. */
  readonly texts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly revision: number;
}
interface TestResult {
  readonly ok: boolean;
  readonly detail: string;
}

/** The host gives a test 15 s, plus the time to load the code. */
const TEST_DEADLINE_MS = 30_000;

/** The options of a module as a form. Secrets that are not typed again are kept. */
export class ModuleOptions {
  readonly #parts: SettingsDependencies;
  readonly #id: string;
  readonly #path: `/modules/${string}`;
  readonly #only: string | undefined;
  readonly #stored = signal<Stored | undefined>(undefined);
  readonly #values = signal<Values>({});
  readonly #tested = signal<TestResult | undefined>(undefined);
  /** The last reading: a save behind it needs its revision. */
  #reading: Promise<void>;

  /** `only` names a single option to show. */
  constructor(parts: SettingsDependencies, id: string, only?: string) {
    this.#parts = parts;
    this.#id = id;
    this.#path = `/modules/${encodeURIComponent(id)}`;
    this.#only = only;
    this.#reading = this.load();
  }

  /** Reads the stored options. What was typed since the values `sent` were saved stays in the form. */
  async load(sent = this.#values.peek()): Promise<void> {
    try {
      const stored = await this.#read();
      const typed = mergePatch(sent, this.#values.peek());
      this.#stored.value = stored;
      this.#values.value = applied(stored.options, typed);
      if (Object.keys(typed).length > 0) this.#parts.formAction.type();
    } catch (error) {
      const isAbsent = error instanceof ApiError && error.code === "module_unknown";
      if (!isAbsent) this.#parts.formAction.fail(error);
    }
  }

  /** Empty for a module without options. */
  view(title: string, canTest = false): TemplateResult | typeof nothing {
    const schema = this.#shown;
    if (!schema) return nothing;
    const { formAction, store } = this.#parts;
    const texts = words.value;
    return html`<section class="panel">
      <h2>${title}</h2>
      ${formView({
        id: "options",
        schema,
        values: this.#values.value,
        offers: suggestionsOf(store),
        faults: formAction.faults.value,
        onChange: (values) => (this.#values.value = values),
      })}
      ${this.#testView()}
      <div class="actions">
        ${formAction.button(texts.save, () => void this.#save(), "primary")}
        ${canTest ? formAction.button(texts.test, () => void this.#test()) : nothing}
      </div>
    </section>`;
  }

  /** A text of the plugin in the current language. */
  readonly say = (text: string): string => {
    const texts = this.#stored.value?.texts ?? {};
    return pluginText(this.#id, text, { texts });
  };

  get #shown(): FieldSchema | null | undefined {
    const stored = this.#stored.value?.schema;
    const schema = stored && translatedSchema(stored, this.say);
    if (this.#only === undefined) return schema;
    const one = schema?.properties?.[this.#only];
    return one && { type: "object", properties: { [this.#only]: one } };
  }

  #testView(): TemplateResult | typeof nothing {
    const tested = this.#tested.value;
    if (!tested) return nothing;
    return html`<p class=${tested.ok ? "said" : "said failed"} role="status" dir="auto">
      ${tested.detail}
    </p>`;
  }

  async #read(): Promise<Stored> {
    const stored = await this.#parts.api.get(`${this.#path}/config`);
    if (this.#only === undefined) return stored;
    const { [this.#only]: own } = stored.options;
    return { ...stored, options: own === undefined ? {} : { [this.#only]: own } };
  }

  async #save(): Promise<void> {
    let sent: Values | undefined;
    const saved = await this.#parts.formAction.save(async () => {
      await this.#reading;
      sent = await this.#store();
    }, words.value.saved);
    if (saved) await (this.#reading = this.load(sent));
  }

  /**
   * Saves the options if the section still has the revision that was read. Other sections of the
   * config may have changed. Returns the values that were saved.
   */
  async #store(): Promise<Values> {
    const sent = this.#values.peek();
    const before = this.#stored.peek();
    if (!before) return sent;
    const patch = this.#patch;
    try {
      const { revision } = before;
      await this.#parts.api.change("PATCH", `${this.#path}/config`, { body: patch, revision });
      return sent;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error;
      const now = await this.#read();
      this.#stored.value = now;
      this.#values.value = applied(now.options, patch);
      const isOther = JSON.stringify(now.options) !== JSON.stringify(before.options);
      if (isOther) throw new Error(words.value.changedElsewhere, { cause: error });
      return this.#store();
    }
  }

  async #test(): Promise<void> {
    this.#tested.value = undefined;
    const { api, formAction } = this.#parts;
    await formAction.run(async () => {
      const path = `${this.#path}/test` as const;
      this.#tested.value = await api.post(path, this.#patch, TEST_DEADLINE_MS);
    });
  }

  /** The difference from the stored options. */
  get #patch(): Values {
    return mergePatch(this.#stored.peek()?.options ?? {}, this.#values.peek());
  }
}

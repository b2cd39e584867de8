import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { formView } from "../form/form.ts";
import type { FieldSchema } from "../form/schema.ts";
import { applied, mergePatch, type Values } from "./merge-patch.ts";
import { offersOf } from "./offers.ts";
import type { SettingsParts } from "./page.ts";
import { words } from "./words.ts";

interface Stored {
  readonly schema: FieldSchema | null;
  readonly options: Values;
  readonly revision: number;
}
interface TestResult {
  readonly ok: boolean;
  readonly detail: string;
}

/** The host gives a test 15 s, beside the time to load the code. */
const TEST_DEADLINE_MS = 30_000;

/** The options of a module as a form. Secrets that are not typed anew stay as they are. */
export class ModuleOptions {
  readonly #parts: SettingsParts;
  readonly #path: string;
  readonly #only: string | undefined;
  readonly #stored = signal<Stored | undefined>(undefined);
  readonly #values = signal<Values>({});
  readonly #tested = signal<TestResult | undefined>(undefined);

  /** `only` names the one option that is shown. */
  constructor(parts: SettingsParts, id: string, only?: string) {
    this.#parts = parts;
    this.#path = `/modules/${encodeURIComponent(id)}`;
    this.#only = only;
    void this.load();
  }

  async load(): Promise<void> {
    try {
      const stored = await this.#read();
      this.#stored.value = stored;
      this.#values.value = stored.options;
    } catch (error) {
      const isAbsent = error instanceof ApiError && error.code === "module_unknown";
      if (!isAbsent) this.#parts.doing.fail(error);
    }
  }

  /** Nothing for a module without options. */
  view(title: string, canTest = false): TemplateResult | typeof nothing {
    const schema = this.#shown;
    if (!schema) return nothing;
    const { doing, store } = this.#parts;
    const say = words.value;
    return html`<section class="panel">
      <h2>${title}</h2>
      ${formView({
        id: "options",
        schema,
        values: this.#values.value,
        offers: offersOf(store),
        faults: doing.faults.value,
        onChange: (values) => (this.#values.value = values),
      })}
      ${this.#testView()}
      <div class="actions">
        ${doing.button(say.save, () => void this.#save(), "primary")}
        ${canTest ? doing.button(say.test, () => void this.#test()) : nothing}
      </div>
    </section>`;
  }

  get #shown(): FieldSchema | null | undefined {
    const schema = this.#stored.value?.schema;
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
    const stored = await this.#parts.api.get<Stored>(`${this.#path}/config`);
    if (this.#only === undefined) return stored;
    const { [this.#only]: own } = stored.options;
    return { ...stored, options: own === undefined ? {} : { [this.#only]: own } };
  }

  async #save(): Promise<void> {
    const saved = await this.#parts.doing.save(() => this.#store(), words.value.saved);
    if (saved) await this.load();
  }

  /** Stores over the revision that was read. What is elsewhere in the config may have another by now. */
  async #store(): Promise<void> {
    const before = this.#stored.peek();
    if (!before) return;
    const patch = this.#patch;
    try {
      const { revision } = before;
      await this.#parts.api.change("PATCH", `${this.#path}/config`, { body: patch, revision });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error;
      const now = await this.#read();
      this.#stored.value = now;
      this.#values.value = applied(now.options, patch);
      const isOther = JSON.stringify(now.options) !== JSON.stringify(before.options);
      if (isOther) throw new Error(words.value.changedElsewhere, { cause: error });
      await this.#store();
    }
  }

  async #test(): Promise<void> {
    this.#tested.value = undefined;
    const { api, doing } = this.#parts;
    await doing.run(async () => {
      const path = `${this.#path}/test`;
      this.#tested.value = await api.post<TestResult>(path, this.#patch, TEST_DEADLINE_MS);
    });
  }

  /** What differs from what is stored. */
  get #patch(): Values {
    return mergePatch(this.#stored.peek()?.options ?? {}, this.#values.peek());
  }
}

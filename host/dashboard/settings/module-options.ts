import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { formView } from "../form/form.ts";
import type { FieldSchema } from "../form/schema.ts";
import { mergePatch, type Values } from "./merge-patch.ts";
import { offersOf } from "./offers.ts";
import type { SettingsParts } from "./page.ts";
import { words } from "./words.ts";

interface Stored {
  readonly schema: FieldSchema | null;
  readonly options: Values;
}
interface TestResult {
  readonly ok: boolean;
  readonly detail: string;
}

/** The options of a module as a form. Secrets that are not typed anew stay as they are. */
export class ModuleOptions {
  readonly #parts: SettingsParts;
  readonly #path: string;
  readonly #stored = signal<Stored | undefined>(undefined);
  readonly #values = signal<Values>({});
  readonly #faults = signal<ReadonlyMap<string, string>>(new Map());
  readonly #tested = signal<TestResult | undefined>(undefined);

  constructor(parts: SettingsParts, path: string) {
    this.#parts = parts;
    this.#path = path;
    void this.load();
  }

  async load(): Promise<void> {
    try {
      const stored = await this.#parts.api.get<Stored>(`${this.#path}/config`);
      this.#stored.value = stored;
      this.#values.value = stored.options;
    } catch (error) {
      this.#parts.doing.fail(error);
    }
  }

  view(canTest: boolean): unknown {
    const schema = this.#stored.value?.schema;
    if (!schema) return nothing;
    const { doing, store } = this.#parts;
    const say = words.value;
    return html`<section class="panel">
      <h2>${say.options}</h2>
      ${formView({
        id: "options",
        schema,
        values: this.#values.value,
        offers: offersOf(store),
        faults: this.#faults.value,
        onChange: (values) => (this.#values.value = values),
      })}
      ${this.#testView()}
      <div class="actions">
        ${doing.button(say.save, () => void this.#save(), "primary")}
        ${canTest ? doing.button(say.test, () => void this.#test()) : nothing}
      </div>
    </section>`;
  }

  #testView(): TemplateResult | typeof nothing {
    const tested = this.#tested.value;
    if (!tested) return nothing;
    return html`<p class=${tested.ok ? "notice" : "notice failed"} role="status" dir="auto">
      ${tested.detail}
    </p>`;
  }

  async #save(): Promise<void> {
    const saved = await this.#send(
      (patch) => this.#parts.api.send("PATCH", `${this.#path}/config`, patch),
      words.value.saved,
    );
    if (saved) await this.load();
  }

  async #test(): Promise<void> {
    this.#tested.value = undefined;
    await this.#send(async (patch) => {
      this.#tested.value = await this.#parts.api.post<TestResult>(
        `${this.#path}/test`,
        patch,
        TEST_DEADLINE_MS,
      );
    });
  }

  /** Sends what differs from what is stored; faults go to their fields. */
  #send(send: (patch: unknown) => Promise<unknown>, done?: string): Promise<boolean> {
    this.#faults.value = new Map();
    const patch = mergePatch(this.#stored.peek()?.options ?? {}, this.#values.peek());
    return this.#parts.doing.run(async () => {
      try {
        await send(patch);
      } catch (error) {
        if (error instanceof ApiError) {
          this.#faults.value = new Map(error.faults.map((fault) => [fault.pointer, fault.detail]));
        }
        throw error;
      }
    }, done);
  }
}

/** The host gives a test 15 s, beside the time to load the code. */
const TEST_DEADLINE_MS = 30_000;

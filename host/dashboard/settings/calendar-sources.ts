import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { formView } from "../form/form.ts";
import type { FieldSchema } from "../form/schema.ts";
import { mergePatch, type Values } from "./merge-patch.ts";
import { offersOf } from "./offers.ts";
import type { SettingsParts } from "./page.ts";
import { typed } from "./typed.ts";
import { words } from "./words.ts";

const PATH = "/modules/calendar/config";

interface Stored {
  readonly schema: FieldSchema & {
    readonly properties?: { readonly sources?: Sources };
  };
  readonly options: { readonly sources?: Readonly<Record<string, Values>> };
}
interface Sources extends FieldSchema {
  /** One schema for every source, under the pattern of their ids. */
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
}

/** The calendars that come in, each with a form made from the calendar plugin's schema. */
export class CalendarSources {
  readonly #parts: SettingsParts;
  readonly #stored = signal<Stored | undefined>(undefined);
  /** What is being written, by the id of its source. */
  readonly #drafts = signal<Readonly<Record<string, Values>>>({});
  readonly #faults = signal<ReadonlyMap<string, string>>(new Map());

  constructor(parts: SettingsParts) {
    this.#parts = parts;
    void this.#load().catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === "module_unknown")) parts.doing.fail(error);
    });
  }

  view(): TemplateResult | typeof nothing {
    const schema = this.#schema;
    if (!schema) return nothing;
    const say = words.value;
    return html`<section>
      <h2>${say.sources}</h2>
      ${Object.entries(this.#drafts.value).map(([id, draft]) => this.#sourceView(id, draft, schema))}
      <form class="form panel" @submit=${(event: SubmitEvent) => this.#add(event)}>
        <div class="field">
          <label for="source-id">${say.sourceId}</label>
          <input
            id="source-id"
            name="id"
            required
            maxlength="60"
            pattern="[a-z0-9]+(-[a-z0-9]+)*"
            dir="ltr"
          />
          <p class="hint">${say.sourceIdHint}</p>
        </div>
        <div class="actions"><button class="button">${say.addSource}</button></div>
      </form>
    </section>`;
  }

  get #schema(): FieldSchema | undefined {
    const patterns = this.#stored.value?.schema.properties?.sources?.patternProperties;
    return Object.values(patterns ?? {})[0];
  }

  #sourceView(id: string, values: Values, schema: FieldSchema): TemplateResult {
    const { doing, store } = this.#parts;
    const say = words.value;
    return html`<details class="panel" ?open=${!this.#isStored(id)}>
      <summary dir="auto">${typeof values["name"] === "string" ? values["name"] : id}</summary>
      ${formView({
        id: `source-${id}`,
        schema,
        values,
        offers: offersOf(store),
        faults: this.#faultsOf(id),
        onChange: (next) => (this.#drafts.value = { ...this.#drafts.peek(), [id]: next }),
      })}
      <div class="actions">
        ${doing.button(say.save, () => this.#save(id, mergePatch(this.#before(id), values)), "primary")}
        ${doing.sureButton(`source ${id}`, say.remove(id), () => this.#save(id, null))}
      </div>
    </details>`;
  }

  #isStored(id: string): boolean {
    return Object.hasOwn(this.#stored.value?.options.sources ?? {}, id);
  }

  #before(id: string): Values {
    return this.#stored.peek()?.options.sources?.[id] ?? {};
  }

  #faultsOf(id: string): ReadonlyMap<string, string> {
    const start = `/sources/${id}/`;
    const own = [...this.#faults.value].filter(([pointer]) => pointer.startsWith(start));
    return new Map(own.map(([pointer, detail]) => [pointer.slice(start.length - 1), detail]));
  }

  #add(event: SubmitEvent): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const id = typed(form, "id");
    this.#drafts.value = { ...this.#drafts.peek(), [id]: this.#drafts.peek()[id] ?? {} };
    form.reset();
  }

  #save(id: string, source: Values | null): void {
    const { api, doing } = this.#parts;
    this.#faults.value = new Map();
    void doing.run(async () => {
      try {
        await api.send("PATCH", PATH, { sources: { [id]: source } });
      } catch (error) {
        const faults = error instanceof ApiError ? error.faults : [];
        this.#faults.value = new Map(faults.map((fault) => [fault.pointer, fault.detail]));
        throw error;
      }
      const { [id]: _saved, ...others } = this.#drafts.peek();
      await this.#load(others);
    }, words.value.saved);
  }

  /** Takes what is stored; `kept` are drafts of others, which somebody may be writing. */
  async #load(kept: Readonly<Record<string, Values>> = {}): Promise<void> {
    const stored = await this.#parts.api.get<Stored>(PATH);
    this.#stored.value = stored;
    this.#drafts.value = { ...stored.options.sources, ...kept };
  }
}

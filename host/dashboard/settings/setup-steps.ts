import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { formView } from "../form/form.ts";
import { type FieldSchema, translatedSchema } from "../form/schema.ts";
import type { Values } from "./merge-patch.ts";
import type { ModuleOptions } from "./module-options.ts";
import type { SettingsDependencies } from "./page.ts";
import { suggestionsOf } from "./suggestions.ts";
import { words } from "./words.ts";

/** A setup as reported by the host. */
interface SetupView {
  readonly state: "working" | "asking" | "done" | "failed" | "cancelled";
  readonly step: number;
  readonly title: string;
  readonly text: string | null;
  /** Percent. */
  readonly progress: number | null;
  readonly form: FieldSchema | null;
  readonly error: string | null;
}

const LOOK_EVERY_MS = 1_000;

/** The steps of a setup, such as pairing a bridge, as provided by its plugin. */
export class SetupSteps {
  readonly #parts: SettingsDependencies;
  readonly #path: `/modules/${string}/setup`;
  readonly #onDone: () => void;
  readonly #say: ModuleOptions["say"];
  readonly #view = signal<SetupView | undefined>(undefined);
  readonly #answer = signal<Values>({});
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  /** `say` translates the plugin's texts. `onDone` is called when the result is saved. */
  constructor(
    parts: SettingsDependencies,
    path: `/modules/${string}`,
    { say, onDone }: Pick<ModuleOptions, "say"> & { readonly onDone: () => void },
  ) {
    this.#parts = parts;
    this.#path = `${path}/setup`;
    this.#say = say;
    this.#onDone = onDone;
    void this.#look();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** `title` and `hint` say what is set up. */
  view(title = words.value.setup, hint = words.value.setupHint): TemplateResult {
    const setup = this.#view.value;
    const underWay = setup?.state === "working" || setup?.state === "asking";
    return html`<section class="panel">
      <h2>${title}</h2>
      <div aria-live="polite">${setup ? this.#stepView(setup) : html`<p>${hint}</p>`}</div>
      <div class="actions">${setup && underWay ? this.#actions(setup) : this.#startButton()}</div>
    </section>`;
  }

  #startButton(): TemplateResult {
    const begin = () => this.#send("POST", "");
    return this.#parts.formAction.button(words.value.beginSetup, begin, "primary");
  }

  #actions({ step, form }: SetupView): TemplateResult {
    const { formAction } = this.#parts;
    const texts = words.value;
    const next = () => this.#send("POST", "/answer", { step, answer: this.#answer.peek() });
    return html`${form === null ? nothing : formAction.button(texts.next, next, "primary")}
    ${formAction.button(texts.cancelSetup, () => this.#send("DELETE", ""))}`;
  }

  #stepView(setup: SetupView): TemplateResult {
    const texts = words.value;
    if (setup.state === "done") return html`<p class="said">${texts.setupDone}</p>`;
    if (setup.state === "cancelled") return html`<p>${texts.setupCancelled}</p>`;
    if (setup.state === "failed") {
      return html`<p class="said failed" dir="auto">${setup.error}</p>`;
    }
    const title = this.#say(setup.title);
    return html`<h3 dir="auto">${title}</h3>
      ${setup.text === null ? nothing : textView(this.#say(setup.text))}
      ${
        setup.progress === null
          ? nothing
          : html`<progress max="100" value=${setup.progress} aria-label=${title}></progress>`
      }
      ${setup.form === null ? nothing : this.#formView(setup.form)}`;
  }

  #formView(schema: FieldSchema): unknown {
    const { formAction, store } = this.#parts;
    return formView({
      id: "answer",
      schema: translatedSchema(schema, this.#say),
      values: this.#answer.value,
      offers: suggestionsOf(store),
      faults: answerFaults(formAction.faults.value),
      onChange: (values) => (this.#answer.value = values),
    });
  }

  #send(method: "POST" | "DELETE", end: "" | "/answer", body?: unknown): void {
    const { api, formAction } = this.#parts;
    const send = async () =>
      this.#take((await api.send(method, `${this.#path}${end}`, body)) as SetupView);
    void formAction.save(send, "");
  }

  /** Follows a running setup, also one started elsewhere. */
  async #look(): Promise<void> {
    const view = await this.#parts.api.get(this.#path).catch(() => undefined);
    if (view) this.#take(view);
  }

  #take(view: SetupView): void {
    const before = this.#view.peek();
    if (before?.step !== view.step || before.state !== view.state) this.#answer.value = {};
    this.#view.value = view;
    clearTimeout(this.#timer);
    if (view.state === "done" && before && before.state !== "done") this.#onDone();
    const isUnderWay = view.state === "working" || view.state === "asking";
    if (isUnderWay && !this.#closed) {
      this.#timer = setTimeout(() => void this.#look(), LOOK_EVERY_MS);
    }
  }
}

/** A text with its lines, in which web addresses are links. */
function textView(text: string): TemplateResult {
  const parts = text.split(/(https:\/\/[^\s<>"]+[^\s<>".,;:)])/).map((part, at) => {
    if (at % 2 === 0) return part;
    return html`<a class="link" href=${part} target="_blank" rel="noopener noreferrer">${part}</a>`;
  });
  return html`<p class="step" dir="auto">${parts}</p>`;
}

/** Moves the JSON pointers of faults from the request body to the answer. */
function answerFaults(faults: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...faults].map(([pointer, fault]) => [pointer.replace(/^\/answer/, ""), fault]));
}

import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { words } from "./words.ts";

interface Notice {
  readonly text: string;
  readonly failed: boolean;
}

/** A user action on the settings pages and its result. One action runs at a time. */
export class FormAction {
  readonly busy = signal(false);
  /** Faults in the last request, by JSON pointer (RFC 6901). */
  readonly faults = signal<ReadonlyMap<string, string>>(new Map());
  #unsaved: "nothing" | "typed" | "warned" = "nothing";
  readonly #notice = signal<Notice | undefined>(undefined);
  readonly #armed = signal<string | undefined>(undefined);

  /** Runs an action and shows its result: `done`, or the text that the action returns. Returns true on success. */
  async run(work: () => Promise<unknown>, done = ""): Promise<boolean> {
    if (this.busy.peek()) return false;
    this.busy.value = true;
    this.clear();
    try {
      const result = await work();
      const text = typeof result === "string" ? result : done;
      if (text !== "") this.#notice.value = { text, failed: false };
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  /** Runs an action that saves the input. On success, the input counts as saved. */
  async save(work: () => Promise<unknown>, done: string): Promise<boolean> {
    const isDone = await this.run(work, done);
    if (isDone) this.leave();
    return isDone;
  }

  /** Marks the form as changed. */
  type(): void {
    this.#unsaved = "typed";
  }

  /** Marks the input as saved or discarded. */
  leave(): void {
    this.#unsaved = "nothing";
  }

  get hasUnsaved(): boolean {
    return this.#unsaved !== "nothing";
  }

  /**
   * True if leaving would lose unsaved input. Warns the user the first time; false the second time.
   */
  warnsOfUnsaved(): boolean {
    if (this.#unsaved !== "typed") return false;
    this.#unsaved = "warned";
    this.#notice.value = { text: words.peek().discardUnsaved, failed: true };
    return true;
  }

  fail(error: unknown): void {
    const isOffline = error instanceof ApiError && error.code === "offline";
    const text = error instanceof Error ? error.message : String(error);
    this.#notice.value = { text: isOffline ? words.value.offline : text, failed: true };
    const faults = error instanceof ApiError ? error.faults : [];
    this.faults.value = new Map(faults.map(({ pointer, detail }) => [pointer, detail]));
  }

  /** The fault of a field, to show below it. */
  faultAt(pointer: string): TemplateResult | typeof nothing {
    const fault = this.faults.value.get(pointer);
    return fault === undefined ? nothing : html`<p class="fault">${fault}</p>`;
  }

  /** Clears the message, because another page or action follows. */
  clear(): void {
    this.faults.value = new Map();
    this.#notice.value = undefined;
    this.#armed.value = undefined;
  }

  notice(): TemplateResult {
    const notice = this.#notice.value;
    const text = notice
      ? html`<p class=${notice.failed ? "said failed" : "said"} dir="auto">${notice.text}</p>`
      : nothing;
    return html`<div class="outcome">
      <div role="alert">${notice?.failed ? text : nothing}</div>
      <div role="status">${notice?.failed ? nothing : text}</div>
    </div>`;
  }

  /**
   * A button for an action that cannot be undone: the first tap asks for confirmation, the second
   * one runs it.
   */
  confirmButton(key: string, text: string, work: () => void): TemplateResult {
    const armed = this.#armed.value === key;
    return html`<button
      type="button"
      class=${armed ? "button danger armed" : "button danger"}
      ?disabled=${this.busy.value}
      @click=${() => (armed ? work() : (this.#armed.value = key))}
      @blur=${() => armed && (this.#armed.value = undefined)}
    >
      ${armed ? words.value.confirmAgain(text) : text}
    </button>`;
  }

  button(text: string, work: () => void, kind = ""): TemplateResult {
    return html`<button
      type="button"
      class="button ${kind}"
      ?disabled=${this.busy.value}
      @click=${work}
    >
      ${text}
    </button>`;
  }
}

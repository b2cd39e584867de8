import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { words } from "./words.ts";

interface Notice {
  readonly text: string;
  readonly failed: boolean;
}

/** What a person has asked for on the settings pages: one thing at a time, and what came of it. */
export class Doing {
  readonly busy = signal(false);
  readonly #notice = signal<Notice | undefined>(undefined);
  readonly #armed = signal<string | undefined>(undefined);

  /** Does it, and says that it is done or why not. Tells whether it went well. */
  async run(work: () => Promise<unknown>, done = ""): Promise<boolean> {
    if (this.busy.peek()) return false;
    this.busy.value = true;
    this.#armed.value = undefined;
    this.#notice.value = undefined;
    try {
      await work();
      if (done !== "") this.#notice.value = { text: done, failed: false };
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    } finally {
      this.busy.value = false;
    }
  }

  fail(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#notice.value = { text, failed: true };
  }

  /** Forgets what was said; another page is shown. */
  clear(): void {
    this.#notice.value = undefined;
    this.#armed.value = undefined;
  }

  notice(): TemplateResult {
    const notice = this.#notice.value;
    const text = notice
      ? html`<p class=${notice.failed ? "notice failed" : "notice"} dir="auto">${notice.text}</p>`
      : nothing;
    return html`<div class="notices">
      <div role="alert">${notice?.failed ? text : nothing}</div>
      <div role="status">${notice?.failed ? nothing : text}</div>
    </div>`;
  }

  /** A button for what cannot be taken back: the first tap asks, the second does it. */
  sureButton(key: string, text: string, work: () => void): TemplateResult {
    const armed = this.#armed.value === key;
    return html`<button
      type="button"
      class=${armed ? "button danger armed" : "button danger"}
      ?disabled=${this.busy.value}
      @click=${() => (armed ? work() : (this.#armed.value = key))}
      @blur=${() => armed && (this.#armed.value = undefined)}
    >
      ${armed ? words.value.sure(text) : text}
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

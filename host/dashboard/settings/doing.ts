import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { words } from "./words.ts";

interface Notice {
  readonly text: string;
  readonly failed: boolean;
}

/** What a person has asked for on the settings pages: one thing at a time, and what came of it. */
export class Doing {
  readonly busy = signal(false);
  /** What the host found wrong with what was sent last, by JSON pointer (RFC 6901). */
  readonly faults = signal<ReadonlyMap<string, string>>(new Map());
  #unsaved: "nothing" | "typed" | "warned" = "nothing";
  readonly #notice = signal<Notice | undefined>(undefined);
  readonly #armed = signal<string | undefined>(undefined);

  /** Does it, and says that it is done or why not. Tells whether it went well. */
  async run(work: () => Promise<unknown>, done = ""): Promise<boolean> {
    if (this.busy.peek()) return false;
    this.busy.value = true;
    this.clear();
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

  /** Does what keeps what was typed: it cannot be lost any more when that went well. */
  async save(work: () => Promise<unknown>, done: string): Promise<boolean> {
    const isDone = await this.run(work, done);
    if (isDone) this.leave();
    return isDone;
  }

  /** Somebody has begun to change something. */
  type(): void {
    this.#unsaved = "typed";
  }

  /** What was typed is kept, or given up. */
  leave(): void {
    this.#unsaved = "nothing";
  }

  get hasUnsaved(): boolean {
    return this.#unsaved !== "nothing";
  }

  /** Whether leaving would lose what was typed and nobody has been told so; tells it. */
  holdsBack(): boolean {
    if (this.#unsaved !== "typed") return false;
    this.#unsaved = "warned";
    this.#notice.value = { text: words.peek().unsaved, failed: true };
    return true;
  }

  fail(error: unknown): void {
    const isOffline = error instanceof ApiError && error.code === "offline";
    const text = error instanceof Error ? error.message : String(error);
    this.#notice.value = { text: isOffline ? words.value.offline : text, failed: true };
    const faults = error instanceof ApiError ? error.faults : [];
    this.faults.value = new Map(faults.map(({ pointer, detail }) => [pointer, detail]));
  }

  /** What is wrong with a field, for below it. */
  faultAt(pointer: string): TemplateResult | typeof nothing {
    const fault = this.faults.value.get(pointer);
    return fault === undefined ? nothing : html`<p class="fault">${fault}</p>`;
  }

  /** Forgets what was said; another page is shown, or something else is done. */
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

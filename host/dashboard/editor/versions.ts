import { signal } from "@preact/signals-core";
import { html, nothing } from "lit";
import type { LayoutRevision } from "../../layout/schema.ts";
import type { Api } from "../api.ts";
import type { Editing } from "./editing.ts";
import { words } from "./words.ts";

interface VersionsParts {
  readonly api: Api;
  readonly editing: Editing;
  /** A date and time for people. */
  readonly when: (at: Date) => string;
}

/** The layouts before this one, and layouts as files. */
export class Versions {
  readonly #parts: VersionsParts;
  readonly #list = signal<readonly LayoutRevision[]>([]);

  constructor(parts: VersionsParts) {
    this.#parts = parts;
  }

  /** Reads the history anew. */
  async load(): Promise<void> {
    const { api, editing } = this.#parts;
    await editing.attempt(
      async () => {
        const { history } = await api.get<{ history: LayoutRevision[] }>("/layout/history");
        this.#list.value = history;
      },
      (reason) => reason,
    );
  }

  view(): unknown {
    const say = words.value;
    const { draft } = this.#parts.editing;
    const current = draft.base.value.revision;
    return html`<p class="hint">${say.restoreHint}</p>
      <div class="actions">
        <button type="button" class="pill" @click=${() => download(draft.document.peek())}>
          <mantel-icon name="mdi:download"></mantel-icon>${say.export}
        </button>
        <label class="pill">
          <mantel-icon name="mdi:upload"></mantel-icon>${say.import}
          <input
            class="unseen"
            type="file"
            accept=".json,application/json"
            @change=${({ currentTarget }: Event) => this.#import(currentTarget as HTMLInputElement)}
          />
        </label>
      </div>
      <ol class="versions">
        ${this.#list.value.map((version) => this.#versionView(version, current))}
      </ol>`;
  }

  #versionView({ revision, savedAt, name }: LayoutRevision, current: number): unknown {
    const say = words.value;
    return html`<li>
      <div>
        <strong>${this.#parts.when(new Date(savedAt))}</strong>
        <span>${say.version(revision)}${name === undefined ? nothing : html` · ${name}`}</span>
      </div>
      ${
        revision === current
          ? html`<span class="chip">${say.current}</span>`
          : html`<button
              type="button"
              class="pill"
              aria-label=${say.restore(revision)}
              @click=${() => this.#restore(revision)}
            >
              ${say.restoreShort}
            </button>`
      }
    </li>`;
  }

  async #restore(revision: number): Promise<void> {
    const { editing } = this.#parts;
    await editing.attempt(async () => {
      if (!(await editing.draft.restore(revision))) return;
      editing.tell({ tone: "note", text: words.value.restored(revision) });
      await this.load();
    }, words.value.notSaved);
  }

  async #import(input: HTMLInputElement): Promise<void> {
    const { editing } = this.#parts;
    const [file] = input.files ?? [];
    if (!file) return;
    const say = words.value;
    await editing.attempt(
      async () => {
        const document = parse(await file.text());
        if (!(await editing.draft.import(document, say.imported(file.name)))) return;
        editing.tell({ tone: "note", text: say.imported(file.name) });
        await this.load();
      },
      (reason) => say.notImported(file.name, reason),
    );
    input.value = "";
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Error(words.value.notJson, { cause });
  }
}

function download(document: object): void {
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = window.document.createElement("a");
  link.href = url;
  link.download = `mantel-layout-${new Date().toISOString().slice(0, 10)}.json`;
  link.click();
  URL.revokeObjectURL(url);
}

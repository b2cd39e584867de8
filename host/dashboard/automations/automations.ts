import { effect, signal, untracked } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import type { OverlaySession } from "../overlay-route.ts";
import { openOverlay, type Overlay } from "../overlay.ts";
import { mayOnlyReadAt } from "../rights.ts";
import { titles } from "../title.ts";
import { AutomationEditor } from "./automation-editor.ts";
import type { CodePage } from "./code-page.ts";
import {
  type AutomationDocument,
  type AutomationEntry,
  contentOf,
  entriesIn,
  type Pause,
  pauseIn,
} from "./document.ts";
import { editorView } from "./editor-view.ts";
import type { HomeView } from "./home.ts";
import type { ImportPage } from "./import-page.ts";
import { listView } from "./list-view.ts";
import { followHome } from "./live-home.ts";
import { pathOf, readDocument, reasonOf } from "./requests.ts";
import { draftOf } from "./templates.ts";
import { words } from "./words.ts";
import styles from "./automations.css";
import sentenceStyles from "./sentence.css";

type Shown =
  | { readonly kind: "loading" | "absent" | "list" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "import"; readonly page: ImportPage }
  | { readonly kind: "code"; readonly page: CodePage }
  | { readonly kind: "editor"; readonly editor: AutomationEditor };

const NEW = "new";
const IMPORT = "import";
/** The time between two reads of the runs while an automation runs often. */
const READ_EVERY_MS = 1_000;
/** The time for which a deletion can be undone. */
const UNDO_MS = 12_000;

/** The pages of the automations: their list, and the sentence of each. */
export class Automations {
  readonly #session: OverlaySession;
  readonly #home: HomeView & { close(): void };
  readonly #shown = signal<Shown>({ kind: "loading" });
  readonly #entries = signal<readonly AutomationEntry[]>([]);
  readonly #pause = signal<Pause | undefined>(undefined);
  readonly #failure = signal("");
  readonly #deleted = signal<AutomationDocument | undefined>(undefined);
  readonly #overlay: Overlay;
  readonly #stopRuns: () => void;
  /** Counts navigations, so that an answer for a page that was left is dropped. */
  #visits = 0;
  #warned = false;
  #reading: ReturnType<typeof setTimeout> | undefined;
  /** True if an automation ran since the last read. */
  #isStale = false;

  constructor(root: HTMLElement, session: OverlaySession) {
    this.#session = session;
    this.#home = followHome(session);
    const css = styles + sentenceStyles;
    this.#overlay = openOverlay(root, { name: "automations", css, view: () => this.#view() });
    this.#stopRuns = effect(() => {
      if (session.runs.value > 0) untracked(() => this.#readSoon());
    });
    addEventListener("beforeunload", this.#onUnload);
    addEventListener("keydown", this.#onKey);
  }

  show(page: string, item: string): void {
    const visit = ++this.#visits;
    this.#warned = false;
    this.#failure.value = "";
    this.#shown.value = { kind: "loading" };
    void this.#load(page, item).then((shown) => {
      if (visit !== this.#visits) return;
      this.#shown.value = shown;
      this.#overlay.focus();
    });
  }

  warnsOfUnsaved(): boolean {
    const editor = this.#editor;
    if (this.#warned || !editor?.isDirty.peek()) return false;
    this.#warned = true;
    editor.warn(words.peek().discardUnsaved);
    return true;
  }

  close(): void {
    this.#visits++;
    this.#stopRuns();
    clearTimeout(this.#reading);
    removeEventListener("beforeunload", this.#onUnload);
    removeEventListener("keydown", this.#onKey);
    this.#home.close();
    this.#overlay.close();
  }

  get #editor(): AutomationEditor | undefined {
    const shown = this.#shown.peek();
    return shown.kind === "editor" ? shown.editor : undefined;
  }

  readonly #onUnload = (event: Event): void => {
    if (this.#editor?.isDirty.peek()) event.preventDefault();
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const editor = this.#editor;
    if (!editor || !(event.ctrlKey || event.metaKey) || !this.#rights.mayEdit) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "s") return;
    if (key === "z" && event.target instanceof HTMLInputElement) return; // the input has its own undo
    event.preventDefault();
    if (key === "s") void this.#save(editor);
    else if (event.shiftKey) editor.redo();
    else editor.undo();
  };

  async #load(page: string, item: string): Promise<Shown> {
    const { api, contexts, store } = this.#session;
    const start = { api, announce: contexts.shared.announce };
    try {
      if (page === NEW) {
        const draft = draftOf(item, store.devices().peek());
        return { kind: "editor", editor: new AutomationEditor(start, draft) };
      }
      if (page === IMPORT) {
        const { ImportPage } = await import("./import-page.ts");
        return { kind: "import", page: new ImportPage(api, this.#home) };
      }
      await this.#loadList();
      if (page === "") return { kind: "list" };
      const entry = this.#entries.peek().find(({ id }) => id === page);
      if (entry?.kind === "code") {
        const { CodePage } = await import("./code-page.ts");
        const shown = new CodePage({ api, ...this.#rights }, this.#home, entry);
        await shown.load();
        return { kind: "code", page: shown };
      }
      const stored = await readDocument(api, page);
      const editor = new AutomationEditor(start, contentOf(stored), stored);
      void editor.readTraces();
      return { kind: "editor", editor };
    } catch (error) {
      const isAbsent = error instanceof ApiError && error.status === 404 && page === "";
      return isAbsent ? { kind: "absent" } : { kind: "failed", reason: reasonOf(error) };
    }
  }

  async #loadList(): Promise<void> {
    const answer = await this.#session.api.get("/automations");
    this.#entries.value = entriesIn(answer);
    this.#pause.value = pauseIn(answer);
  }

  /** Reads what a run has changed at once, and while there are more, once a second. */
  #readSoon(): void {
    this.#isStale = true;
    if (this.#reading !== undefined) return;
    this.#isStale = false;
    this.#reading = setTimeout(() => {
      this.#reading = undefined;
      if (this.#isStale) this.#readSoon();
    }, READ_EVERY_MS);
    if (this.#shown.peek().kind === "list") void this.#loadList().catch(() => undefined);
    const shown = this.#shown.peek();
    void (shown.kind === "code" ? shown.page : this.#editor)?.readTraces();
  }

  #view(): unknown {
    const shown = this.#shown.value;
    const texts = words.value;
    const { mayEdit, mayControl } = this.#rights;
    if (shown.kind === "editor") {
      const { editor } = shown;
      titles.over.value = editor.document.value.name;
      return editorView({
        editor,
        home: this.#home,
        mayEdit,
        mayControl,
        onSave: () => void this.#save(editor),
        onRun: () => void this.#run(editor),
        onDelete: () => void this.#delete(editor),
        codeModule: this.#session.mayAdminister ? this.#codeModule : undefined,
      });
    }
    if (shown.kind === "code") {
      titles.over.value = shown.page.entry.name;
      return shown.page.view();
    }
    titles.over.value = texts.automations;
    return html`<main class="narrow" aria-busy=${shown.kind === "loading"}>
      <header class="head">
        <a
          class="round"
          href=${shown.kind === "list" || shown.kind === "absent" ? "#" : "#/automations"}
          aria-label=${shown.kind === "list" ? texts.back : texts.backToList}
        >
          <mantel-icon name="mdi:arrow-left" class="turned"></mantel-icon>
        </a>
        <h1 tabindex="-1" dir="auto">${texts.automations}</h1>
      </header>
      ${this.#noticeView()} ${this.#contentOf(shown)}
    </main>`;
  }

  #contentOf(shown: Exclude<Shown, { kind: "editor" | "code" }>): unknown {
    const texts = words.value;
    switch (shown.kind) {
      case "loading":
        return html`<p class="hint">${texts.loading}</p>`;
      case "absent":
        return html`<p>${texts.absent}</p>`;
      case "failed":
        return html`<p role="alert">${texts.failed(shown.reason)}</p>`;
      case "import":
        return shown.page.view();
      case "list":
        return listView({
          entries: this.#entries.value,
          home: this.#home,
          ...this.#rights,
          pause: this.#pause.value,
          onPause: (forMs) => void this.#pauseAll("pause", forMs === undefined ? {} : { forMs }),
          onResume: () => void this.#pauseAll("resume"),
          onSwitch: (entry, enabled) => void this.#switch(entry, enabled),
          onSnooze: (entry, forMs) => void this.#snooze(entry, forMs),
        });
    }
  }

  #noticeView(): TemplateResult {
    const texts = words.value;
    const deleted = this.#deleted.value;
    return html`<div class="outcome">
      <div role="alert">
        ${this.#failure.value === "" ? nothing : html`<p class="said failed">${this.#failure.value}</p>`}
      </div>
      <div role="status">
        ${
          deleted
            ? html`<p class="said">
                ${texts.deleted(deleted.name)}
                <button type="button" class="pill" @click=${() => void this.#restore(deleted)}>
                  ${texts.undo}
                </button>
              </p>`
            : nothing
        }
      </div>
    </div>`;
  }

  get #rights(): { readonly mayEdit: boolean; readonly mayControl: boolean } {
    const { mayEdit, mayControl } = this.#session;
    const mayChange = !mayOnlyReadAt("automations");
    return { mayEdit: mayChange && mayEdit, mayControl: mayChange && mayControl };
  }

  get #codeModule(): string | undefined {
    const modules = this.#session.store.modules().value;
    return modules.find(({ kinds }) => kinds.includes("automation"))?.id;
  }

  async #switch({ id, name }: AutomationEntry, enabled: boolean): Promise<void> {
    const { api, contexts } = this.#session;
    await this.#attempt(async () => {
      await api.post(`${pathOf(id)}/${enabled ? "enable" : "disable"}`);
      contexts.shared.announce(enabled ? words.peek().enabled(name) : words.peek().disabled(name));
      await this.#loadList();
    });
  }

  async #snooze({ id, name }: AutomationEntry, forMs: number): Promise<void> {
    const { api, contexts } = this.#session;
    await this.#attempt(async () => {
      await api.post(`${pathOf(id)}/disable`, { forMs });
      contexts.shared.announce(words.peek().snoozed(name));
      await this.#loadList();
    });
  }

  async #pauseAll(verb: "pause" | "resume", body?: object): Promise<void> {
    await this.#attempt(async () => {
      await this.#session.api.post(`/automations/${verb}`, body);
      await this.#loadList();
    });
  }

  /** Returns true if the draft is stored. The same page continues under the address of a new automation. */
  async #save(editor: AutomationEditor): Promise<boolean> {
    const isNew = editor.id === undefined;
    const isStored = await editor.save();
    if (isStored && isNew && editor.id !== undefined) {
      history.replaceState(null, "", `#/automations/${encodeURIComponent(editor.id)}`);
    }
    return isStored;
  }

  async #run(editor: AutomationEditor): Promise<void> {
    const isStored = editor.id !== undefined && !editor.isDirty.peek();
    if (isStored || (await this.#save(editor))) await editor.run();
  }

  async #delete(editor: AutomationEditor): Promise<void> {
    const stored = editor.base.peek();
    if (!stored) return;
    try {
      await this.#session.api.delete(pathOf(stored.id));
    } catch (error) {
      return editor.warn(reasonOf(error));
    }
    const content = contentOf(stored);
    this.#deleted.value = content;
    this.#warned = true; // nothing is left to lose
    setTimeout(() => {
      if (this.#deleted.peek() === content) this.#deleted.value = undefined;
    }, UNDO_MS);
    location.hash = "#/automations";
  }

  /** Creates a deleted automation again. It has a new id, and its runs are gone. */
  async #restore(content: AutomationDocument): Promise<void> {
    const { api, contexts } = this.#session;
    await this.#attempt(async () => {
      await api.post("/automations", content);
      this.#deleted.value = undefined;
      contexts.shared.announce(words.peek().restored(content.name));
      await this.#loadList();
    });
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.#failure.value = "";
    try {
      await work();
    } catch (error) {
      this.#failure.value = reasonOf(error);
    }
  }
}

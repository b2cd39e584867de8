import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { type Api, ApiError } from "../api.ts";
import type { LayoutDocument } from "./document.ts";
import { sameContent } from "./merge.ts";
import { Undo } from "./undo.ts";
import { words } from "./words.ts";

/** The layout as one person changes it, and how it goes to the host and comes from it. */
export class Draft {
  readonly #api: Api;
  readonly #undo = signal<Undo<LayoutDocument>>(Undo.of(EMPTY));
  readonly #base = signal<LayoutDocument>(EMPTY);
  readonly #theirs = signal<LayoutDocument | undefined>(undefined);
  readonly #busy = signal(false);
  readonly document: ReadonlySignal<LayoutDocument> = computed(() => this.#undo.value.value);
  /** Whether there is something that the host does not have. */
  readonly dirty = computed(() => !sameContent(this.document.value, this.#base.value));

  private constructor(api: Api, stored: LayoutDocument) {
    this.#api = api;
    this.#base.value = stored;
    this.#undo.value = Undo.of(stored);
  }

  /** @throws ApiError */
  static async open(api: Api): Promise<Draft> {
    return new Draft(api, await api.get<LayoutDocument>("/layout"));
  }

  get undo(): ReadonlySignal<Undo<LayoutDocument>> {
    return this.#undo;
  }

  /** The document both sides began with. */
  get base(): ReadonlySignal<LayoutDocument> {
    return this.#base;
  }

  /** What somebody else saved meanwhile, until it is brought together with this draft. */
  get theirs(): ReadonlySignal<LayoutDocument | undefined> {
    return this.#theirs;
  }

  get busy(): ReadonlySignal<boolean> {
    return this.#busy;
  }

  /** Makes a step of a new document; one that says the same as before is none. */
  change(document: LayoutDocument, label: string, key?: string): void {
    if (sameContent(document, this.document.peek())) return;
    this.#undo.value = this.#undo.peek().done(document, label, key);
  }

  /** Returns what was taken back. */
  takeBack(): string | undefined {
    const label = this.#undo.peek().undoLabel;
    this.#undo.value = this.#undo.peek().undone();
    return label;
  }

  /** Returns what was done again. */
  doAgain(): string | undefined {
    const label = this.#undo.peek().redoLabel;
    this.#undo.value = this.#undo.peek().redone();
    return label;
  }

  /**
   * Stores the draft over the document it began with, and over no other: when somebody else was
   * faster, `theirs` has what they saved and nothing is stored.
   * @throws ApiError
   */
  async save(): Promise<boolean> {
    return this.#store(() =>
      this.#api.change<LayoutDocument>("PUT", "/layout", {
        body: this.document.peek(),
        revision: this.#base.peek().revision,
      }),
    );
  }

  /**
   * Makes an earlier version the stored one, at once; what was here is one step back.
   * @throws ApiError
   */
  async restore(revision: number): Promise<boolean> {
    return this.#replace(words.value.restored(revision), () =>
      this.#api.change<LayoutDocument>("POST", `/layout/restore/${revision}`, {
        revision: this.#base.peek().revision,
      }),
    );
  }

  /**
   * Stores a document that came as a file, at once; what was here is one step back. The host checks
   * it as it checks any other.
   * @throws ApiError
   */
  async import(document: unknown, label: string): Promise<boolean> {
    return this.#replace(label, () =>
      this.#api.change<LayoutDocument>("PUT", "/layout", {
        body: document,
        revision: this.#base.peek().revision,
      }),
    );
  }

  /**
   * Takes note of a revision that the host has announced. Without changes of our own it is shown at
   * once; returns whether it was.
   * @throws ApiError
   */
  async notice(revision: number): Promise<boolean> {
    const known = Math.max(this.#base.peek().revision, this.#theirs.peek()?.revision ?? 0);
    if (this.#busy.peek() || revision <= known) return false;
    const stored = await this.#api.get<LayoutDocument>("/layout");
    if (stored.revision <= this.#base.peek().revision) return false;
    if (this.dirty.peek()) {
      this.#theirs.value = stored;
      return false;
    }
    this.#rebase(stored, stored, words.value.takenOver);
    return true;
  }

  /** Goes on from what somebody else saved, with a document that has both sides' changes. */
  takeOver(merged: LayoutDocument): void {
    const theirs = this.#theirs.peek();
    if (theirs) this.#rebase(theirs, merged, words.value.merged);
  }

  #rebase(base: LayoutDocument, document: LayoutDocument, label: string): void {
    this.change(document, label);
    this.#base.value = base;
    this.#theirs.value = undefined;
  }

  #replace(label: string, send: () => Promise<LayoutDocument>): Promise<boolean> {
    return this.#store(async () => {
      const stored = await send();
      this.change(stored, label);
      return stored;
    });
  }

  async #store(send: () => Promise<LayoutDocument>): Promise<boolean> {
    if (this.#theirs.peek() || this.#busy.peek()) return false;
    this.#busy.value = true;
    try {
      this.#base.value = await send();
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error;
      this.#theirs.value = await this.#api.get<LayoutDocument>("/layout");
      return false;
    } finally {
      this.#busy.value = false;
    }
  }
}

const EMPTY: LayoutDocument = {
  version: 1,
  revision: 0,
  grid: { columns: 12, rowHeight: 20, gap: 12 },
  pages: [],
  displays: [],
};

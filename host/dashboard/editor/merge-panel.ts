import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { html, nothing } from "lit";
import { findPage, findWidget, type LayoutDocument } from "./document.ts";
import type { Editing } from "./editing.ts";
import { type Change, changesBetween, keyOf, type Merge, merge, type Thing } from "./merge.ts";
import { words } from "./words.ts";

/** What somebody else saved meanwhile: shown, and brought together with the draft as a person says. */
export class MergePanel {
  readonly #editing: Editing;
  readonly #takeTheirs = signal<ReadonlySet<string>>(new Set());
  readonly #merge: ReadonlySignal<Merge | undefined>;

  constructor(editing: Editing) {
    this.#editing = editing;
    const { base, document, theirs } = editing.draft;
    this.#merge = computed(() =>
      theirs.value
        ? merge({ base: base.value, mine: document.value, theirs: theirs.value })
        : undefined,
    );
  }

  view(): unknown {
    const say = words.value;
    const { base, theirs } = this.#editing.draft;
    const merged = this.#merge.value;
    if (!merged || !theirs.value) return nothing;
    const conflicting = new Set(merged.conflicts.map(keyOf));
    const others = changesBetween(base.value, theirs.value).filter(
      (change) => !conflicting.has(keyOf(change)),
    );
    return html`<p class="hint">${say.changedElsewhere}</p>
      ${
        others.length === 0
          ? nothing
          : html`<h3>${say.theirChanges}</h3>
              <ul class="changes">
                ${others.map((change) => html`<li>${say.change(this.#nameOf(change), howIs(change.how))}</li>`)}
              </ul>`
      }
      ${
        conflicting.size === 0
          ? nothing
          : html`<h3>${say.conflicts}</h3>
              ${merged.conflicts.map((conflict) => this.#conflictView(conflict))}`
      }
      <button type="button" class="pill strong" @click=${() => this.#takeOver(merged)}>
        ${say.takeOver}
      </button>`;
  }

  #conflictView(conflict: Merge["conflicts"][number]): unknown {
    const key = keyOf(conflict);
    const choice = (isTheirs: boolean, text: string): unknown =>
      html`<label>
        <input
          type="radio"
          name="conflict-${key}"
          .checked=${this.#takeTheirs.value.has(key) === isTheirs}
          @change=${() => this.#choose(key, isTheirs)}
        />${text}
      </label>`;
    return html`<fieldset class="choice">
      <legend>${this.#nameOf(conflict)}</legend>
      ${choice(false, words.value.mine(howIs(conflict.mine)))}
      ${choice(true, words.value.theirs(howIs(conflict.theirs)))}
    </fieldset>`;
  }

  #choose(key: string, isTheirs: boolean): void {
    const next = new Set(this.#takeTheirs.peek());
    if (isTheirs) next.add(key);
    else next.delete(key);
    this.#takeTheirs.value = next;
  }

  #takeOver({ resolve }: Merge): void {
    this.#editing.draft.takeOver(resolve(this.#takeTheirs.peek()));
    this.#takeTheirs.value = new Set();
    this.#editing.panel.value = undefined;
    this.#editing.tell({ tone: "note", text: words.value.merged });
  }

  #nameOf({ kind, id }: Thing): string {
    const { base, document, theirs } = this.#editing.draft;
    const documents = [document.value, theirs.value, base.value].filter(
      (each): each is LayoutDocument => each !== undefined,
    );
    if (kind === "page") {
      const page = documents.map((each) => findPage(each, id)).find(Boolean);
      return words.value.pageNamed(page?.title ?? id);
    }
    if (kind !== "widget") return words.value[kind];
    const widget = documents.map((each) => findWidget(each, id)).find(Boolean);
    return widget ? this.#editing.nameOf(widget) : id;
  }
}

function howIs(how: Change["how"]): string {
  const say = words.value;
  switch (how) {
    case "added":
      return say.howAdded;
    case "removed":
      return say.howRemoved;
    case "moved":
      return say.howMoved;
    case "changed":
      return say.howChanged;
  }
}

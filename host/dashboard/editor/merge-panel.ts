import { html, nothing } from "lit";
import { findPage, findWidget, type LayoutDocument } from "./document.ts";
import type { EditorStore } from "./editor-store.ts";
import { type Change, changesBetween, type Conflict, keyOf, type ChangedItem } from "./merge.ts";
import { words } from "./words.ts";

/**
 * Panel with the changes saved by someone else. The user decides about conflicts and merges them
 * into the draft.
 */
export function mergePanel(store: EditorStore): unknown {
  const texts = words.value;
  const theirs = store.theirs.value;
  const merge = store.merge.value;
  if (!merge || !theirs) return nothing;
  const conflicting = new Set(merge.conflicts.map(keyOf));
  const others = changesBetween(store.base.value, theirs).filter(
    (change) => !conflicting.has(keyOf(change)),
  );
  return html`<p class="hint">${texts.changedElsewhere}</p>
    ${
      others.length === 0
        ? nothing
        : html`<h3>${texts.changedOnlyElsewhere}</h3>
            <ul class="changes">
              ${others.map((change) => html`<li>${texts.change(nameOf(store, change), changeWord(change.how))}</li>`)}
            </ul>`
    }
    ${
      conflicting.size === 0
        ? nothing
        : html`<h3>${texts.conflicts}</h3>
            ${merge.conflicts.map((conflict) => conflictView(store, conflict))}`
    }
    <button type="button" class="pill strong" @click=${() => store.takeOver()}>
      ${texts.merge}
    </button>`;
}

function conflictView(store: EditorStore, conflict: Conflict): unknown {
  const key = keyOf(conflict);
  const choice = (isTheirs: boolean, text: string): unknown =>
    html`<label>
      <input
        type="radio"
        name="conflict-${key}"
        .checked=${store.takeTheirs.value.has(key) === isTheirs}
        @change=${() => store.decide(key, isTheirs)}
      />${text}
    </label>`;
  return html`<fieldset class="choice">
    <legend>${nameOf(store, conflict)}</legend>
    ${choice(false, words.value.mine(changeWord(conflict.mine)))}
    ${choice(true, words.value.theirs(changeWord(conflict.theirs)))}
  </fieldset>`;
}

function nameOf(store: EditorStore, { kind, id }: ChangedItem): string {
  const documents = [store.document.value, store.theirs.value, store.base.value].filter(
    (each): each is LayoutDocument => each !== undefined,
  );
  if (kind === "page") {
    const page = documents.map((each) => findPage(each, id)).find(Boolean);
    return words.value.pageNamed(page?.title ?? id);
  }
  if (kind !== "widget") return words.value[kind];
  const widget = documents.map((each) => findWidget(each, id)).find(Boolean);
  return widget ? store.nameOf(widget) : id;
}

function changeWord(how: Change["how"]): string {
  const texts = words.value;
  switch (how) {
    case "added":
      return texts.howAdded;
    case "removed":
      return texts.howRemoved;
    case "moved":
      return texts.howMoved;
    case "changed":
      return texts.howChanged;
  }
}

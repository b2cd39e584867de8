import { html, nothing, type TemplateResult } from "lit";
import type { AutomationEditor } from "./automation-editor.ts";
import { MODES } from "./document.ts";
import type { HomeView } from "./home.ts";
import { MERGED, type MergedPart } from "./merge.ts";
import { onOffSwitch } from "./on-off-switch.ts";
import { sentenceView } from "./sentence-view.ts";
import { shownTrace, tracesView } from "./trace-view.ts";
import { verdictOf } from "./truth.ts";
import { words } from "./words.ts";

interface EditorView {
  readonly editor: AutomationEditor;
  readonly home: HomeView;
  readonly mayEdit: boolean;
  readonly mayControl: boolean;
  readonly onSave: () => void;
  readonly onRun: () => void;
  readonly onDelete: () => void;
  /** The module that runs automations, for users who may add code to it. */
  readonly codeModule: string | undefined;
}

/** One automation: its sentence, what would happen now, and its last runs. */
export function editorView(view: EditorView): TemplateResult {
  const { editor, home, mayEdit } = view;
  return html`<main aria-busy=${editor.busy.value}>
      ${headerView(view)} ${messageView(editor)} ${conflictView(editor)}
      ${sentenceView({ editor, home, mayEdit, trace: shownTrace(editor) })}
      ${mayEdit ? moreView(view) : nothing} ${verdictView(view)}
    </main>
    ${tracesView(editor, home, editor.past.view(editor.document.value.triggers, home))}`;
}

function headerView(view: EditorView): TemplateResult {
  const { editor, mayEdit } = view;
  const texts = words.value;
  const { name, enabled } = editor.document.value;
  return html`<header class="head">
    <a class="round" href="#/automations" aria-label=${texts.backToList}>
      <mantel-icon name="mdi:arrow-left" class="turned"></mantel-icon>
    </a>
    <h1 class="unseen" tabindex="-1">${name}</h1>
    ${
      mayEdit
        ? html`<input
              class="name"
              dir="auto"
              maxlength="200"
              autocomplete="off"
              aria-label=${texts.name}
              .value=${name}
              @change=${({ currentTarget }: Event) => {
                const value = (currentTarget as HTMLInputElement).value.trim();
                if (value !== "") editor.change(["name"], value);
              }}
            />
            ${editsView(view)}`
        : html`<b class="name" dir="auto">${name}</b>`
    }
    ${mayEdit ? onOffSwitch(name, enabled, (isOn) => void editor.setEnabled(isOn)) : nothing}
  </header>`;
}

/** Undo, redo and save; nothing before the first edit. */
function editsView({ editor, onSave }: EditorView): unknown {
  const texts = words.value;
  const { undoLabel, redoLabel } = editor.history.value;
  const isDirty = editor.isDirty.value;
  if (!isDirty && undoLabel === undefined && redoLabel === undefined) return nothing;
  const button = (icon: string, label: string, isDisabled: boolean, act: () => void): unknown =>
    html`<button
      type="button"
      class="icon-button"
      aria-label=${label}
      ?disabled=${isDisabled}
      @click=${act}
    >
      <mantel-icon name=${icon}></mantel-icon>
    </button>`;
  return html`<div class="edits">
    ${button("mdi:undo", texts.undo, undoLabel === undefined, () => editor.undo())}
    ${button("mdi:redo", texts.redo, redoLabel === undefined, () => editor.redo())}
    ${
      isDirty
        ? html`<button
            type="button"
            class="pill strong"
            ?disabled=${editor.busy.value}
            @click=${onSave}
          >
            ${editor.busy.value ? texts.saving : texts.save}
          </button>`
        : nothing
    }
  </div>`;
}

function messageView(editor: AutomationEditor): TemplateResult {
  const message = editor.message.value;
  // Faults in the sentence stand below their parts.
  const others = [...editor.faults.value].filter(
    ([pointer]) => !/^\/(triggers|conditions|actions)\/\d/.test(pointer),
  );
  const text = message
    ? html`<p class=${message.failed ? "said failed" : "said"} dir="auto">${message.text}</p>`
    : nothing;
  return html`<div class="outcome">
    <div role="alert">
      ${message?.failed ? text : nothing}
      ${others.map(([pointer, detail]) => html`<p class="fault">${pointer} ${detail}</p>`)}
    </div>
    <div role="status">${message?.failed ? nothing : text}</div>
  </div>`;
}

const PART_NAMES = {
  name: "partName",
  description: "partDescription",
  enabled: "partEnabled",
  mode: "partMode",
  triggers: "partTriggers",
  conditions: "partConditions",
  actions: "partActions",
} as const satisfies Readonly<Record<MergedPart, string>>;

/** The choice between my changes and those of somebody else. */
function conflictView(editor: AutomationEditor): unknown {
  if (!editor.theirs.value) return nothing;
  const texts = words.value;
  const conflicts = editor.conflicts.value;
  const choice = (part: MergedPart, isTheirs: boolean, text: string): TemplateResult =>
    html`<label>
      <input
        type="radio"
        name="conflict-${part}"
        .checked=${editor.takeTheirs.value.has(part) === isTheirs}
        @change=${() => editor.decide(part, isTheirs)}
      />${text}
    </label>`;
  return html`<section class="conflict" role="alert">
    <p>${conflicts.length === 0 ? texts.conflictFree : texts.conflict}</p>
    ${MERGED.filter((part) => conflicts.includes(part)).map(
      (part) =>
        html`<fieldset>
          <legend>${texts[PART_NAMES[part]]}</legend>
          ${choice(part, false, texts.mine)} ${choice(part, true, texts.theirs)}
        </fieldset>`,
    )}
    <button type="button" class="pill strong" @click=${() => editor.takeOver()}>
      ${texts.merge}
    </button>
  </section>`;
}

function moreView({ editor, onDelete, codeModule }: EditorView): TemplateResult {
  const texts = words.value;
  const { mode } = editor.document.value;
  return html`<div class="more">
    <label
      >${texts.mode}
      <select
        @change=${({ currentTarget }: Event) =>
          editor.change(["mode"], (currentTarget as HTMLSelectElement).value)}
      >
        ${MODES.map((each) => html`<option value=${each} ?selected=${each === mode}>${texts[each]}</option>`)}
      </select>
    </label>
    ${
      editor.base.value
        ? html`<button
              type="button"
              class="pill"
              aria-expanded=${editor.code.value !== undefined}
              @click=${() => void editor.toggleCode()}
            >
              ${texts.showAsCode}
            </button>
            <button type="button" class="pill danger" @click=${onDelete}>${texts.deleteIt}</button>`
        : nothing
    }
    ${
      editor.code.value === undefined
        ? nothing
        : html`<pre class="code" dir="ltr" tabindex="0">${editor.code.value}</pre>
            ${
              codeModule === undefined || editor.isDirty.value
                ? nothing
                : html`<button
                    type="button"
                    class="pill"
                    ?disabled=${editor.busy.value}
                    @click=${() => void editor.turnIntoCode(codeModule)}
                  >
                    ${texts.turnIntoCode}
                  </button>`
            }`
    }
  </div>`;
}

function verdictView({ editor, home, mayEdit, mayControl, onRun }: EditorView): TemplateResult {
  const texts = words.value;
  const isUnsaved = editor.isDirty.value || !editor.base.value;
  return html`<footer class="verdict">
    <p>
      <b>${verdictOf(editor.document.value.conditions, home)}</b>
      <span>${isUnsaved ? texts.unsaved : texts.tryHint}</span>
    </p>
    ${
      mayControl && (mayEdit || !isUnsaved)
        ? html`<button
            type="button"
            class="pill strong"
            ?disabled=${editor.busy.value}
            @click=${onRun}
          >
            <mantel-icon name="mdi:play"></mantel-icon
            >${isUnsaved ? texts.saveAndTry : texts.tryNow}
          </button>`
        : nothing
    }
  </footer>`;
}

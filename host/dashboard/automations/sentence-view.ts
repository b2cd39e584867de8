import { html, nothing, type TemplateResult } from "lit";
import type { AutomationEditor } from "./automation-editor.ts";
import { type Part, partIn, partsIn, type SectionName, type Trace } from "./document.ts";
import { type HomeView, spanText } from "./home.ts";
import { type Path, pointerOf, valueAt } from "./operations.ts";
import { chooserView, kindChooser } from "./part-chooser.ts";
import { phraseOf } from "./phrases.ts";
import { liveOf } from "./truth.ts";
import { words } from "./words.ts";

interface Sentence {
  readonly editor: AutomationEditor;
  readonly home: HomeView;
  /** False for users who may only look. */
  readonly mayEdit: boolean;
  /** The run whose way through the sentence is drawn. */
  readonly trace: Trace | undefined;
}

const GROUPS: readonly string[] = ["all", "any", "none"];

/** The automation as a sentence: each part is a button that opens its form. */
export function sentenceView(sentence: Sentence): TemplateResult {
  const { editor } = sentence;
  const { triggers, conditions, actions } = editor.document.value;
  const texts = words.value;
  const lines = triggers.map((_, at) =>
    lineView(sentence, {
      word: at === 0 ? texts.when : texts.orWhen,
      section: "triggers",
      paths: [["triggers", at]],
      adds: at === triggers.length - 1 ? ["triggers"] : undefined,
    }),
  );
  const first = lineView(sentence, {
    word: texts.when,
    section: "triggers",
    paths: [],
    adds: ["triggers"],
  });
  return html`<div class=${sentence.trace ? "sentence traced" : "sentence"}>
    ${triggers.length === 0 ? first : lines}
    ${lineView(sentence, {
      word: texts.if,
      section: "conditions",
      paths: conditions.map((_, at) => ["conditions", at]),
      adds: ["conditions"],
    })}
    ${actionLines(sentence, texts.thenDo, ["actions"], actions)}
  </div>`;
}

/** One line for each action, and an indented sentence for each `if`. */
function actionLines(
  sentence: Sentence,
  word: string,
  list: Path,
  actions: readonly unknown[],
): unknown {
  const add = lineView(sentence, { word, section: "actions", paths: [], adds: list });
  if (actions.length === 0) return add;
  return actions.map((action, at) => {
    const path = [...list, at];
    const part = partIn(action);
    const line = lineView(sentence, {
      word: at === 0 ? word : "",
      section: "actions",
      paths: [path],
      adds: at === actions.length - 1 ? list : undefined,
    });
    return part?.type === "if" ? [line, innerSentence(sentence, path, part)] : line;
  });
}

function innerSentence(sentence: Sentence, path: Path, part: Part): TemplateResult {
  const texts = words.value;
  const list = (key: "then" | "else"): readonly unknown[] => {
    const value = part[key];
    return Array.isArray(value) ? (value as readonly unknown[]) : [];
  };
  return html`<div class="inner">
    ${lineView(sentence, {
      word: texts.if,
      section: "conditions",
      paths: partsIn(part["conditions"]).map((_, at) => [...path, "conditions", at]),
      adds: [...path, "conditions"],
    })}
    ${actionLines(sentence, texts.thenDo, [...path, "then"], list("then"))}
    ${actionLines(sentence, texts.otherwise, [...path, "else"], list("else"))}
  </div>`;
}

interface Line {
  readonly word: string;
  readonly section: SectionName;
  readonly paths: readonly Path[];
  /** The list to which its button adds; absent without a button. */
  readonly adds: Path | undefined;
}

function lineView(sentence: Sentence, { word, section, paths, adds }: Line): TemplateResult {
  const { editor, mayEdit } = sentence;
  const opened = editor.opened.value;
  const isReached = paths.some((path) => tracedResult(sentence, path) !== "");
  const addPointer = adds && `${pointerOf(adds)}/+`;
  const open = paths.flatMap((path) => openedBelow(editor, path));
  const isEmpty = section === "conditions" && paths.length === 0;
  return html`<div class="line ${isReached ? "reached" : ""}">
    <span class="word">${word}</span>
    <div class="parts">
      ${paths.map((path, at) => [
        at > 0 && section === "conditions"
          ? html`<span class="word">${words.value.and}</span>`
          : nothing,
        tokenView(sentence, section, path),
      ])}
      ${isEmpty && !mayEdit ? html`<span class="word">${words.value.always}</span>` : nothing}
      ${
        mayEdit && adds && addPointer !== undefined
          ? addButton(sentence, section, addPointer)
          : nothing
      }
    </div>
    ${open.map((path) => chooserView(sentence, path))}
    ${adds && opened === addPointer ? kindChooser(sentence, section, adds) : nothing}
  </div>`;
}

/** The part of this line whose form is open: itself or one in its group. */
function openedBelow(editor: AutomationEditor, path: Path): Path[] {
  const opened = editor.opened.value;
  if (opened === undefined) return [];
  if (opened === pointerOf(path)) return [path];
  const part = partIn(valueAt(editor.document.value, path));
  if (!part || !GROUPS.includes(part.type)) return [];
  const inner = partsIn(part["of"]).flatMap((_, at) => openedBelow(editor, [...path, "of", at]));
  return opened === `${pointerOf(path)}/of/+` ? [[...path, "of", "+"]] : inner;
}

const LABELS = {
  triggers: "addTrigger",
  conditions: "addCondition",
  actions: "addAction",
} as const;

function addButton({ editor }: Sentence, section: SectionName, pointer: string): TemplateResult {
  return html`<button
    type="button"
    class="add"
    aria-label=${words.value[LABELS[section]]}
    aria-expanded=${editor.opened.value === pointer}
    @click=${() => toggle(editor, pointer)}
  >
    <mantel-icon name="mdi:plus"></mantel-icon>
  </button>`;
}

function toggle(editor: AutomationEditor, pointer: string): void {
  editor.opened.value = editor.opened.peek() === pointer ? undefined : pointer;
}

function tokenView(sentence: Sentence, section: SectionName, path: Path): unknown {
  const { editor, home, mayEdit } = sentence;
  const part = partIn(valueAt(editor.document.value, path));
  if (!part) return nothing;
  if (section === "conditions" && GROUPS.includes(part.type)) {
    return groupView(sentence, path, part);
  }
  const { icon, hue, text, isOpen } = phraseOf(section, part, home);
  // The conditions of an `if` stand in the lines below it.
  const shown = part.type === "if" ? words.value.kindIf : text;
  const pointer = pointerOf(path);
  const { forMs } = part;
  const result = tracedResult(sentence, path);
  return html`<div
    class="token ${result} ${isOpen === true ? "missing" : ""}"
    .style=${`--hue: var(--mantel-hue-${hue})`}
  >
    <div class="phrase">
      <button
        type="button"
        data-pointer=${pointer}
        aria-expanded=${editor.opened.value === pointer}
        ?disabled=${!mayEdit}
        @click=${() => toggle(editor, pointer)}
      >
        <mantel-icon name=${icon}></mantel-icon><span dir="auto">${shown}</span>
      </button>
      ${
        section === "actions" && typeof forMs === "number" && forMs > 0
          ? html`<span class="word">${words.value.forTime} <b>${spanText(forMs)}</b></span>`
          : nothing
      }
    </div>
    ${liveView(section, part, home)} ${faultsView(editor, pointer)}
  </div>`;
}

function liveView(section: SectionName, part: Part, home: HomeView): unknown {
  const live = liveOf(section, part, home);
  if (!live) return nothing;
  const { text, holds } = live;
  const icon = holds === undefined ? "mdi:circle-medium" : holds ? "mdi:check" : "mdi:close";
  const mark = holds === undefined ? "" : holds ? "holds" : "fails";
  return html`<p class="live ${mark}">
    <mantel-icon name=${icon}></mantel-icon><span dir="auto">${text}</span>
  </p>`;
}

function faultsView(editor: AutomationEditor, pointer: string): unknown {
  const faults = [...editor.faults.value].filter(
    ([at]) => at === pointer || at.startsWith(`${pointer}/`),
  );
  return faults.map(([, detail]) => html`<p class="fault">${detail}</p>`);
}

/** Several conditions as one, with its own button to add to them. */
function groupView(sentence: Sentence, path: Path, part: Part): TemplateResult {
  const { editor, mayEdit } = sentence;
  const texts = words.value;
  const pointer = pointerOf(path);
  const word = part.type === "all" ? texts.and : part.type === "any" ? texts.or : texts.nor;
  const title = { all: texts.kindAll, any: texts.kindAny, none: texts.kindNone }[part.type] ?? "";
  return html`<div class="group" role="group" aria-label=${title}>
    <button
      type="button"
      class="title"
      data-pointer=${pointer}
      aria-expanded=${editor.opened.value === pointer}
      ?disabled=${!mayEdit}
      @click=${() => toggle(editor, pointer)}
    >
      ${title}
    </button>
    ${partsIn(part["of"]).map((_, at) => [
      at > 0 ? html`<span class="word">${word}</span>` : nothing,
      tokenView(sentence, "conditions", [...path, "of", at]),
    ])}
    ${mayEdit ? addButton(sentence, "conditions", `${pointer}/of/+`) : nothing}
  </div>`;
}

/** The result of a part in the shown run as a class; empty if the run did not come there. */
function tracedResult({ trace }: Sentence, path: Path): string {
  if (!trace) return "";
  const [section, ...rest] = path;
  if (section === "triggers") return trace.trigger === rest[0] ? "ok" : "";
  if (section === "conditions") {
    const found = trace.conditions.find(({ index }) => index === rest[0]);
    return found ? (found.result ? "ok" : "failed") : "";
  }
  const at = rest.join("/");
  return trace.actions.find((action) => action.at === at)?.result ?? "";
}

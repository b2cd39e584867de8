import { html, nothing, type TemplateResult } from "lit";
import type { AutomationEditor } from "./automation-editor.ts";
import { type Part, partIn, type SectionName } from "./document.ts";
import type { HomeView } from "./home.ts";
import { kindsOf, newPart } from "./kinds.ts";
import { type Path, pointerOf, splitPath, valueAt } from "./operations.ts";
import { partForm, spanForm } from "./part-form.ts";
import { phraseOf } from "./phrases.ts";
import { words } from "./words.ts";

interface Chooser {
  readonly editor: AutomationEditor;
  readonly home: HomeView;
}

/** The form of an open part, with its buttons. */
export function chooserView(sentence: Chooser, path: Path): unknown {
  const { editor, home } = sentence;
  const section = sectionOf(path);
  if (path.at(-1) === "+") return kindChooser(sentence, "conditions", path.slice(0, -1));
  const part = partIn(valueAt(editor.document.value, path));
  if (!part) return nothing;
  const pointer = pointerOf(path);
  const form = phraseOf(section, part, home).isUnknown
    ? html`<p class="hint">${words.value.notEditable}</p>
        <pre>${JSON.stringify(part, undefined, 2)}</pre>`
    : formOf(sentence, section, path, part);
  return html`<div
    class="chooser"
    @keydown=${(event: KeyboardEvent) => closeOnEscape(event, editor, pointer)}
  >
    ${form} ${toolsView(editor, path)}
  </div>`;
}

function closeOnEscape(event: KeyboardEvent, editor: AutomationEditor, pointer: string): void {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  editor.opened.value = undefined;
  focusPart(pointer);
}

/** Focuses the button of a part. */
function focusPart(pointer: string): void {
  document.querySelector<HTMLElement>(`[data-pointer="${pointer}"]`)?.focus();
}

function formOf(sentence: Chooser, section: SectionName, path: Path, part: Part): unknown {
  const { editor, home } = sentence;
  const texts = words.value;
  const pointer = pointerOf(path);
  const id = `part${pointer.replaceAll("/", "-")}`;
  const faults = new Map(
    [...editor.faults.value]
      .filter(([at]) => at.startsWith(`${pointer}/`))
      .map(([at, detail]) => [at.slice(pointer.length), detail]),
  );
  const change = (next: unknown): void => editor.change(path, next);
  const span = (key: string, label: string, none?: string): unknown =>
    spanForm({
      id: `${id}-${key}`,
      label,
      ms: typeof part[key] === "number" ? part[key] : 0,
      ...(none !== undefined && { none }),
      onChange: (ms) =>
        editor.change([...path, key], ms === 0 && none !== undefined ? undefined : ms),
    });
  const form = partForm({ section, part, home, faults, id, onChange: change });
  if (section === "triggers") {
    if (part.type === "webhook") return html`${form} ${webhookHint(editor, part)}`;
    return html`${form}
    ${part.type === "state" ? span("forMs", texts.lastingFor, texts.atOnce) : nothing}`;
  }
  switch (part.type) {
    case "command":
      return html`${form} ${span("forMs", texts.forTime, texts.span0)}`;
    case "wait":
      return html`${span("ms", texts.kindWait)} ${span("maxMs", texts.orUpTo, texts.exactly)}`;
    case "ramp":
      return html`${form} ${span("ms", texts.within)}`;
    case "waitFor":
      return html`${triggerForm(sentence, [...path, "trigger"], part)}
      ${span("timeoutMs", texts.timeout)}`;
    case "all":
    case "any":
    case "none":
      return groupKinds(sentence, path, part);
    default:
      return form;
  }
}

/** The address to which a program sends a request. */
function webhookHint(editor: AutomationEditor, { name }: Part): unknown {
  const path = editor.webhookPath();
  if (path === undefined) return nothing;
  return html`<p class="hint">${words.value.webhookHint}</p>
    <pre dir="ltr">POST ${location.origin}${path}/${String(name)}</pre>`;
}

/** The trigger that an action waits for: its kind and its form. */
function triggerForm(sentence: Chooser, path: Path, { trigger }: Part): unknown {
  const part = partIn(trigger);
  const { editor, home } = sentence;
  return html`${kindPills("triggers", part?.type, (type) =>
    editor.change(path, newPart("triggers", type, home)),
  )}
  ${part ? formOf(sentence, "triggers", path, part) : nothing}`;
}

function groupKinds({ editor }: Chooser, path: Path, { type }: Part): TemplateResult {
  const texts = words.value;
  const kinds = [
    ["all", texts.kindAll],
    ["any", texts.kindAny],
    ["none", texts.kindNone],
  ] as const;
  return html`<div class="pills">
    ${kinds.map(
      ([id, label]) =>
        html`<button
          type="button"
          aria-pressed=${id === type}
          @click=${() => editor.change([...path, "type"], id)}
        >
          ${label}
        </button>`,
    )}
  </div>`;
}

function toolsView(editor: AutomationEditor, path: Path): TemplateResult {
  const texts = words.value;
  const { list, index } = splitPath(path);
  const items = valueAt(editor.document.value, list);
  const count = Array.isArray(items) ? items.length : 0;
  const move = (by: number): void => {
    editor.move(path, by);
    editor.opened.value = pointerOf([...list, index + by]);
  };
  return html`<div class="tools">
    <button
      type="button"
      class="icon-button"
      aria-label=${texts.earlier}
      ?disabled=${index === 0}
      @click=${() => move(-1)}
    >
      <mantel-icon name="mdi:arrow-up"></mantel-icon>
    </button>
    <button
      type="button"
      class="icon-button"
      aria-label=${texts.later}
      ?disabled=${index === count - 1}
      @click=${() => move(1)}
    >
      <mantel-icon name="mdi:arrow-down"></mantel-icon>
    </button>
    <button type="button" class="pill danger" @click=${() => editor.remove(path)}>
      ${texts.remove}
    </button>
    <button type="button" class="pill" @click=${() => close(editor, path)}>${texts.done}</button>
  </div>`;
}

function close(editor: AutomationEditor, path: Path): void {
  editor.opened.value = undefined;
  focusPart(pointerOf(path));
}

/** The kinds of parts that can be added to a list. */
export function kindChooser(
  { editor, home }: Chooser,
  section: SectionName,
  list: Path,
): TemplateResult {
  return html`<div
    class="chooser"
    @keydown=${(event: KeyboardEvent) => closeOnEscape(event, editor, pointerOf(list))}
  >
    ${kindPills(section, undefined, (type) => editor.add(list, newPart(section, type, home)))}
  </div>`;
}

function kindPills(
  section: SectionName,
  current: string | undefined,
  choose: (type: string) => void,
): TemplateResult {
  return html`<div class="pills">
    ${kindsOf(section).map(
      ({ type, icon, label }) =>
        html`<button
          type="button"
          aria-pressed=${current === undefined ? nothing : type === current}
          @click=${() => choose(type)}
        >
          <mantel-icon name=${icon}></mantel-icon>${label}
        </button>`,
    )}
  </div>`;
}

/** The kind of parts in the list at which a place ends. */
function sectionOf(path: Path): SectionName {
  const list = splitPath(path).list.at(-1);
  if (list === "triggers") return "triggers";
  return list === "conditions" || list === "of" ? "conditions" : "actions";
}

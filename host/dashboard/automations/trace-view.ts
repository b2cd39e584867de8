import { html, nothing, type TemplateResult } from "lit";
import type { AutomationEditor } from "./automation-editor.ts";
import {
  type AutomationDocument,
  type Part,
  partIn,
  partsIn,
  type SectionName,
  type Trace,
  type TracedAction,
  type TracedCondition,
} from "./document.ts";
import type { HomeView } from "./home.ts";
import { valueAt } from "./operations.ts";
import { phraseOf } from "./phrases.ts";
import { seenText } from "./seen.ts";
import { words } from "./words.ts";

/** The runs of an automation: the steps of one, and the others as a list. */
export function tracesView(editor: AutomationEditor, home: HomeView): TemplateResult {
  const texts = words.value;
  const traces = editor.traces.value;
  const shown = shownTrace(editor);
  return html`<aside class="runs" aria-label=${texts.runs}>
    <h2>${texts.runs}</h2>
    ${shown ? stepsView(shown, editor.document.value, home) : html`<p class="hint">${texts.noRuns}</p>`}
    ${traces.length > 1 ? listView(editor, traces, home) : nothing}
  </aside>`;
}

/** The run that is shown; the last one if none is chosen. */
export function shownTrace(editor: AutomationEditor): Trace | undefined {
  const traces = editor.traces.value;
  const chosen = editor.shownTrace.value;
  return traces.find(({ id }) => id === chosen) ?? traces[0];
}

function listView(
  editor: AutomationEditor,
  traces: readonly Trace[],
  home: HomeView,
): TemplateResult {
  const shown = shownTrace(editor);
  return html`<ul class="list">
    ${traces.map(
      (trace) =>
        html`<li>
          <button
            type="button"
            aria-pressed=${trace === shown}
            @click=${() => (editor.shownTrace.value = trace.id)}
          >
            <b>${whenText(trace.startedAt, home)}</b><span>${resultText(trace)}</span>
          </button>
        </li>`,
    )}
  </ul>`;
}

function whenText(at: string, { fmt }: HomeView): string {
  const instant = Date.parse(at);
  return `${fmt.date(instant, "short")} ${fmt.time(instant)}`;
}

/** The result of a run in words. */
function resultText({ result, endedAt }: Trace): string {
  const texts = words.value;
  if (endedAt === undefined || result === "running") return texts.running;
  switch (result) {
    case "completed":
    case "ok":
      return texts.completed;
    case "stopped":
    case "skipped":
      return texts.stopped;
    case "failed":
      return texts.failedRun;
    case "cancelled":
      return texts.cancelled;
    default:
      return result;
  }
}

function stepsView(trace: Trace, document: AutomationDocument, home: HomeView): TemplateResult {
  const texts = words.value;
  const started = partAt(document, "triggers", String(trace.trigger));
  const time = (at: string): string => home.fmt.time(Date.parse(at));
  return html`<p class="when">
      <b>${whenText(trace.startedAt, home)}</b><span>${resultText(trace)}</span>
    </p>
    <ol class="steps">
      ${step({
        section: "triggers",
        part: started,
        fallback: texts.byHand,
        mark: "",
        facts: [time(trace.startedAt)],
        home,
      })}
      ${trace.conditions.map((condition) =>
        conditionStep(condition, partAt(document, "conditions", String(condition.index)), home),
      )}
      ${trace.actions.map((action) => [
        step({
          section: "actions",
          part: partAt(document, "actions", action.at),
          fallback: texts.thenDo,
          mark: action.result,
          facts: actionFacts(action, time),
          home,
        }),
        ...checksOf(action, home),
      ])}
    </ol>`;
}

/** A condition with the value that it saw. */
function conditionStep(
  condition: TracedCondition,
  part: Part | undefined,
  home: HomeView,
): TemplateResult {
  const texts = words.value;
  const seen = seenText(part, condition, home);
  return step({
    section: "conditions",
    part,
    fallback: texts.if,
    mark: condition.result ? "ok" : "failed",
    facts: [
      condition.result ? texts.wasTrue : texts.wasFalse,
      ...(seen === undefined ? [] : [texts.saw(seen)]),
    ],
    home,
  });
}

/** The conditions that an action checked. */
function checksOf({ request, conditions }: TracedAction, home: HomeView): TemplateResult[] {
  const parts = partsIn(request?.["conditions"]);
  return conditions.map((each) => conditionStep(each, parts[each.index], home));
}

function actionFacts(
  { startedAt, endedAt, result, error }: TracedAction,
  time: (at: string) => string,
): readonly string[] {
  const texts = words.value;
  if (error !== undefined) return [error];
  if (result === "skipped") return [texts.skipped];
  if (startedAt === undefined) return [];
  if (endedAt === undefined) return [time(startedAt), texts.running];
  const seconds = (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  return [time(startedAt), texts.answeredIn(seconds.toFixed(seconds < 10 ? 2 : 0))];
}

/** The part as it is now, which may have changed since the run. */
function partAt(document: AutomationDocument, section: SectionName, at: string): Part | undefined {
  const path = at.split("/").map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  return partIn(valueAt(document, [section, ...path]));
}

interface Step {
  readonly section: SectionName;
  readonly part: Part | undefined;
  readonly fallback: string;
  readonly mark: string;
  readonly facts: readonly string[];
  readonly home: HomeView;
}

const MARKS: Readonly<Record<string, string>> = {
  failed: "mdi:close-circle",
  skipped: "mdi:minus-circle-outline",
  running: "mdi:progress-clock",
};

function step({ section, part, fallback, mark, facts, home }: Step): TemplateResult {
  const shown = part && phraseOf(section, part, home);
  const icon =
    MARKS[mark] ??
    (section === "conditions" ? "mdi:check-circle" : (shown?.icon ?? "mdi:gesture-tap"));
  const hue =
    mark === "failed" ? "alert" : section === "conditions" ? "ok" : (shown?.hue ?? "info");
  return html`<li class=${mark} .style=${`--hue: var(--mantel-hue-${hue})`}>
    <mantel-icon name=${icon}></mantel-icon>
    <b dir="auto">${shown?.text ?? fallback}</b>
    <p>${facts.map((fact) => html`<span>${fact}</span>`)}</p>
  </li>`;
}

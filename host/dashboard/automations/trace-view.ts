import type { ReadonlySignal, Signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
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
import { type Phrase, phraseOf } from "./phrases.ts";
import { requestPhrase, resultText } from "./request-words.ts";
import { seenText } from "./seen.ts";
import { words } from "./words.ts";

type Sections = Pick<AutomationDocument, SectionName>;

/** The runs of an automation. `document` has no actions for code. */
export interface Runs {
  readonly traces: ReadonlySignal<readonly Trace[]>;
  /** The id of the run that is shown; absent means the last one. */
  readonly shownTrace: Signal<string | undefined>;
  readonly document: ReadonlySignal<Sections>;
}

/** The runs of an automation: the steps of one, and the others as a list. `after` is shown below them. */
export function tracesView(runs: Runs, home: HomeView, after: unknown = nothing): TemplateResult {
  const texts = words.value;
  const traces = runs.traces.value;
  const shown = shownTrace(runs);
  return html`<aside class="runs" aria-label=${texts.runs}>
    <h2>${texts.runs}</h2>
    ${shown ? stepsView(shown, runs.document.value, home) : html`<p class="hint">${texts.noRuns}</p>`}
    ${traces.length > 1 ? listView(runs, traces, home) : nothing} ${after}
  </aside>`;
}

/** The run that is shown; the last one if none is chosen. */
export function shownTrace(runs: Runs): Trace | undefined {
  const traces = runs.traces.value;
  const chosen = runs.shownTrace.value;
  return traces.find(({ id }) => id === chosen) ?? traces[0];
}

function listView(runs: Runs, traces: readonly Trace[], home: HomeView): TemplateResult {
  const shown = shownTrace(runs);
  return html`<ul class="list">
    ${traces.map(
      (trace) =>
        html`<li>
          <button
            type="button"
            aria-pressed=${trace === shown}
            @click=${() => (runs.shownTrace.value = trace.id)}
          >
            <b>${whenText(trace.startedAt, home)}</b><span>${endText(trace)}</span>
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
function endText({ result, endedAt }: Trace): string {
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

function stepsView(trace: Trace, document: Sections, home: HomeView): TemplateResult {
  const texts = words.value;
  const started = partAt(document, "triggers", String(trace.trigger));
  return html`<p class="when">
      <b>${whenText(trace.startedAt, home)}</b><span>${endText(trace)}</span>
    </p>
    ${trace.error === undefined ? nothing : html`<p class="fault" dir="auto">${trace.error}</p>`}
    <ol class="steps">
      ${step({
        section: "triggers",
        phrase: started && phraseOf("triggers", started, home),
        fallback: texts.byHand,
        mark: "",
        facts: [home.fmt.time(Date.parse(trace.startedAt))],
      })}
      ${trace.conditions.map((condition) =>
        conditionStep(condition, partAt(document, "conditions", String(condition.index)), home),
      )}
      ${trace.actions.map((action) => [
        actionStep(action, partAt(document, "actions", action.at), home),
        ...checksOf(action, home),
      ])}
    </ol>`;
}

/** An action of a document, or a step of code with its place in the file. */
function actionStep(action: TracedAction, part: Part | undefined, home: HomeView): TemplateResult {
  const facts = actionFacts(action, home);
  const isUndo = action.type === "undo" || action.type === "";
  const isCode = !part && !isUndo;
  const phrase = part
    ? phraseOf("actions", part, home)
    : isUndo
      ? undefined
      : requestPhrase(action, home);
  return step({
    section: "actions",
    phrase,
    fallback: words.value.thenDo,
    mark: action.result,
    facts: isCode ? [...facts, action.at] : facts,
  });
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
    phrase: part && phraseOf("conditions", part, home),
    fallback: texts.if,
    mark: condition.result ? "ok" : "failed",
    facts: [
      condition.result ? texts.wasTrue : texts.wasFalse,
      ...(seen === undefined ? [] : [texts.saw(seen)]),
    ],
  });
}

/** The conditions that an action checked. */
function checksOf({ request, conditions }: TracedAction, home: HomeView): TemplateResult[] {
  const parts = partsIn(request?.["conditions"]);
  return conditions.map((each) => conditionStep(each, parts[each.index], home));
}

function actionFacts(action: TracedAction, home: HomeView): readonly string[] {
  const texts = words.value;
  const { startedAt, endedAt, result, error } = action;
  if (error !== undefined) return [error];
  if (result === "skipped") return [texts.skipped];
  if (startedAt === undefined) return [];
  const time = home.fmt.time(Date.parse(startedAt));
  if (endedAt === undefined) return [time, texts.running];
  const seconds = (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  const value = resultText(action, home);
  const took = texts.answeredIn(seconds.toFixed(seconds < 10 ? 2 : 0));
  return [time, value === undefined ? took : texts.saw(value)];
}

/** The part as it is now, which may have changed since the run. */
function partAt(document: Sections, section: SectionName, at: string): Part | undefined {
  const path = at.split("/").map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  return partIn(valueAt(document, [section, ...path]));
}

interface Step {
  readonly section: SectionName;
  readonly phrase: Phrase | undefined;
  readonly fallback: string;
  readonly mark: string;
  readonly facts: readonly string[];
}

const MARKS: Readonly<Record<string, string>> = {
  failed: "mdi:close-circle",
  skipped: "mdi:minus-circle-outline",
  running: "mdi:progress-clock",
};

function step({ section, phrase, fallback, mark, facts }: Step): TemplateResult {
  const icon =
    MARKS[mark] ??
    (section === "conditions" ? "mdi:check-circle" : (phrase?.icon ?? "mdi:gesture-tap"));
  const hue =
    mark === "failed" ? "alert" : section === "conditions" ? "ok" : (phrase?.hue ?? "info");
  return html`<li class=${mark} .style=${`--hue: var(--mantel-hue-${hue})`}>
    <mantel-icon name=${icon}></mantel-icon>
    <b dir="auto">${phrase?.text ?? fallback}</b>
    <p>${facts.map((fact) => html`<span>${fact}</span>`)}</p>
  </li>`;
}

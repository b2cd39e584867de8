import { signal } from "@preact/signals-core";
import { html, nothing, type TemplateResult } from "lit";
import type { Api } from "../api.ts";
import { now } from "../home-time.ts";
import { isRecord, type Part, partsIn, tracesIn } from "./document.ts";
import { fieldOf, type HomeView, valueWords } from "./home.ts";
import { phraseOf } from "./phrases.ts";
import { reasonOf } from "./requests.ts";
import { words } from "./words.ts";

const DAY_MS = 86_400_000;
const SPANS = { pastDay: DAY_MS, pastWeek: 7 * DAY_MS, pastDemo: DAY_MS } as const;
type Span = keyof typeof SPANS;
/** A week of the past is worked out in a second; a busy machine takes longer. */
const DEADLINE_MS = 30_000;
const MOST_ROWS = 300;

/** Something that would have happened, or that really did. */
interface Row {
  readonly at: string;
  readonly isReal: boolean;
  readonly section: "triggers" | "actions";
  readonly part: Part;
}

interface Outcome {
  readonly runs: number;
  readonly rows: readonly Row[];
  /** True if there is more than is shown. */
  readonly hasMore: boolean;
}

/** Tries an automation against the recorded past of the home, or against a made-up day. It commands nothing. */
export class PastRun {
  readonly #api: Api;
  readonly #subject: () => object;
  readonly #span = signal<Span>("pastDay");
  readonly #busy = signal(false);
  readonly #error = signal<string | undefined>(undefined);
  readonly #outcome = signal<Outcome | undefined>(undefined);

  /** `subject` is the part of the request that names the automation: its `id` or its `document`. */
  constructor(api: Api, subject: () => object) {
    this.#api = api;
    this.#subject = subject;
  }

  /** `triggers` are those of the automation. */
  view(triggers: readonly Part[], home: HomeView): TemplateResult {
    const texts = words.value;
    const error = this.#error.value;
    const outcome = this.#outcome.value;
    return html`<section class="past" aria-busy=${this.#busy.value}>
      <h2>${texts.past}</h2>
      <p class="hint">${texts.pastHint}</p>
      <div class="choice">
        <select
          aria-label=${texts.past}
          @change=${({ currentTarget }: Event) =>
            (this.#span.value = (currentTarget as HTMLSelectElement).value as Span)}
        >
          ${Object.keys(SPANS).map(
            (span) =>
              html`<option value=${span} ?selected=${span === this.#span.value}>
                ${texts[span as Span]}
              </option>`,
          )}
        </select>
        <button
          type="button"
          class="pill"
          ?disabled=${this.#busy.value}
          @click=${() => void this.run(triggers)}
        >
          ${texts.pastTry}
        </button>
      </div>
      <div role="status">
        ${error === undefined ? nothing : html`<p class="said failed" dir="auto">${error}</p>`}
        ${outcome ? html`<p><b>${texts.pastRuns(outcome.runs)}</b></p>` : nothing}
      </div>
      ${outcome && outcome.rows.length > 0 ? tableOf(outcome, home) : nothing}
    </section>`;
  }

  async run(triggers: readonly Part[]): Promise<void> {
    const span = this.#span.peek();
    const to = now();
    const iso = (at: number) => new Date(at).toISOString();
    const body = {
      ...this.#subject(),
      from: iso(to - SPANS[span]),
      to: iso(to),
      source: span === "pastDemo" ? "demo" : "recorded",
    };
    this.#busy.value = true;
    this.#error.value = undefined;
    try {
      const answer: unknown = await this.#api.post("/automations/simulate", body, DEADLINE_MS);
      this.#outcome.value = outcomeIn(answer, triggers);
    } catch (error) {
      this.#outcome.value = undefined;
      this.#error.value = words.peek().notTried(reasonOf(error));
    } finally {
      this.#busy.value = false;
    }
  }
}

function tableOf({ rows, hasMore }: Outcome, home: HomeView): TemplateResult {
  const texts = words.value;
  return html`<table>
      <thead>
        <tr>
          <th scope="col"><span class="unseen">${texts.pastTime}</span></th>
          <th scope="col">${texts.pastWould}</th>
          <th scope="col">${texts.pastReal}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => {
          const text = textOf(row, home);
          return html`<tr class=${row.section}>
            <th scope="row">${whenText(row.at, home)}</th>
            <td dir="auto">${row.isReal ? nothing : text}</td>
            <td dir="auto">${row.isReal ? text : nothing}</td>
          </tr>`;
        })}
      </tbody>
    </table>
    ${hasMore ? html`<p class="hint">${texts.pastMore}</p>` : nothing}`;
}

function whenText(at: string, { fmt }: HomeView): string {
  const instant = Date.parse(at);
  const isToday = fmt.date(instant) === fmt.date(now());
  return isToday ? fmt.time(instant) : `${fmt.date(instant, "short")} ${fmt.time(instant)}`;
}

/** A run, a command, or the value that a field really had. */
function textOf({ section, part }: Row, home: HomeView): string {
  if (part.type !== "value") return phraseOf(section, part, home).text;
  const device = home.device(String(part["device"]));
  const field = fieldOf(device, String(part["field"]));
  const value = valueWords(field, part["value"], home);
  return `${device?.name ?? String(part["device"])}: ${field?.label ?? String(part["field"])} ${value}`;
}

/** The outcome in an answer. Entries of another form are left out. */
function outcomeIn(answer: unknown, triggers: readonly Part[]): Outcome {
  const { runs, timeline, recorded, truncated } = isRecord(answer) ? answer : {};
  const rows = [...rowsOf(timeline, triggers), ...realRows(recorded)].toSorted(
    (a, b) => Date.parse(a.at) - Date.parse(b.at),
  );
  return {
    runs: tracesIn(runs).length,
    rows: rows.slice(0, MOST_ROWS),
    hasMore: truncated === true || rows.length > MOST_ROWS,
  };
}

function rowsOf(timeline: unknown, triggers: readonly Part[]): Row[] {
  return entriesIn(timeline).flatMap(({ at, kind, ...entry }): Row[] => {
    if (kind === "run") {
      const { index } = isRecord(entry["trigger"]) ? entry["trigger"] : {};
      const part = triggers[Number(index)];
      return part ? [{ at, isReal: false, section: "triggers", part }] : [];
    }
    const isAction = kind === "command" || kind === "scene" || kind === "notify";
    const part = { ...entry, type: String(kind) };
    return isAction ? [{ at, isReal: false, section: "actions", part }] : [];
  });
}

/** The changes of the fields that the automation commands. */
function realRows(recorded: unknown): Row[] {
  const before = new Map<string, string>();
  return entriesIn(recorded).flatMap(({ at, ...entry }): Row[] => {
    const key = `${String(entry["device"])} ${String(entry["field"])}`;
    const value = JSON.stringify(entry["value"]);
    if (before.get(key) === value) return [];
    before.set(key, value);
    const [part] = partsIn([{ ...entry, type: "value" }]);
    return part ? [{ at, isReal: true, section: "actions", part }] : [];
  });
}

function entriesIn(list: unknown): ({ readonly at: string } & Readonly<Record<string, unknown>>)[] {
  return (Array.isArray(list) ? list : []).flatMap((each) => {
    const at = isRecord(each) ? each["at"] : undefined;
    return isRecord(each) && typeof at === "string" && !Number.isNaN(Date.parse(at))
      ? [{ ...each, at }]
      : [];
  });
}

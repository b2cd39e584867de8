/** A trigger, condition or action. One whose type this page does not know is kept as it is. */
export type Part = Readonly<Record<string, unknown>> & { readonly type: string };

const SECTIONS = ["triggers", "conditions", "actions"] as const;
export type SectionName = (typeof SECTIONS)[number];

export const MODES = ["single", "restart", "queued", "parallel"] as const;

/** An automation as `POST /automations` takes it. */
export interface AutomationDocument {
  readonly name: string;
  readonly description?: string;
  readonly enabled: boolean;
  readonly mode: (typeof MODES)[number];
  readonly triggers: readonly Part[];
  readonly conditions: readonly Part[];
  readonly actions: readonly Part[];
}

/** An automation as the host stores it. */
export interface StoredAutomation extends AutomationDocument {
  readonly id: string;
  readonly revision: number;
}

/** An automation in the list, of either kind. */
export interface AutomationEntry {
  readonly id: string;
  readonly name: string;
  readonly kind: "code" | "document";
  readonly enabled: boolean;
  /** The instant at which it is switched on again (ISO 8601), if it is off for a time. */
  readonly offUntil: string | undefined;
  /** The start of the last run (ISO 8601). */
  readonly lastRunAt: string | undefined;
  /** A user-facing sentence about the problem. */
  readonly error: string | undefined;
}

/** All automations are switched off. */
export interface Pause {
  /** The end (ISO 8601); `undefined` if somebody has to switch them on. */
  readonly until: string | undefined;
}

/** A condition as a run found it. */
export interface TracedCondition {
  readonly index: number;
  readonly result: boolean;
  /** The value that it saw, null if that was unknown; for a group the traces of its conditions. Absent in old traces. */
  readonly value?: unknown;
}

/** One step of a run. */
export interface TracedAction {
  /** The place among the actions, such as `2/then/0`; of code the place in its file. */
  readonly at: string;
  /** The kind of the step, such as `command`. */
  readonly type: string;
  /** The request of the step; `undefined` in old traces. */
  readonly request: Part | undefined;
  /** The conditions that it checked. */
  readonly conditions: readonly TracedCondition[];
  readonly value: unknown;
  readonly result: string;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  readonly error: string | undefined;
}

/** One run of an automation, as far as it has come. */
export interface Trace {
  readonly id: string;
  readonly startedAt: string;
  /** `undefined` while it runs. */
  readonly endedAt: string | undefined;
  /** The index of the trigger; below 0 for a run by hand. */
  readonly trigger: number;
  readonly conditions: readonly TracedCondition[];
  readonly actions: readonly TracedAction[];
  readonly result: string;
  /** The reason for which it failed or ended, such as an error of code. */
  readonly error: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The trigger, condition or action in a value; `undefined` if it has no type. */
export function partIn(value: unknown): Part | undefined {
  return isRecord(value) && typeof value["type"] === "string" ? (value as Part) : undefined;
}

/** The parts in a list. Values that are not parts are left out. */
export function partsIn(value: unknown): readonly Part[] {
  return list(value)
    .map(partIn)
    .filter((part) => part !== undefined);
}

/** The document without what the host adds, as a save sends it. */
export function contentOf(document: AutomationDocument): AutomationDocument {
  const { name, description, enabled, mode, triggers, conditions, actions } = document;
  const content = { name, enabled, mode, triggers, conditions, actions };
  return description === undefined ? content : { ...content, description };
}

/** The list of automations in an answer. Invalid entries are left out. */
export function entriesIn(answer: unknown): readonly AutomationEntry[] {
  const found = isRecord(answer) ? list(answer["automations"]) : [];
  return found.filter(isRecord).flatMap((entry) => {
    const { id, name, kind, enabled, offUntil, lastRun, error } = entry;
    if (typeof id !== "string") return [];
    return {
      id,
      name: text(name) ?? id,
      kind: kind === "code" ? ("code" as const) : ("document" as const),
      enabled: enabled !== false,
      offUntil: text(offUntil),
      lastRunAt: text(lastRun) ?? textIn(lastRun, "startedAt") ?? textIn(lastRun, "at"),
      error: text(error) ?? faultText(error),
    };
  });
}

/** The pause of all automations in an answer. */
export function pauseIn(answer: unknown): Pause | undefined {
  const pause = isRecord(answer) ? answer["paused"] : undefined;
  return isRecord(pause) ? { until: text(pause["until"]) } : undefined;
}

/** The runs in an answer, the newest first. */
export function tracesIn(answer: unknown): readonly Trace[] {
  const found = isRecord(answer) ? list(answer["traces"]) : list(answer);
  const traces = found.filter(isRecord).flatMap((trace): Trace[] => {
    const startedAt = text(trace["startedAt"]);
    if (startedAt === undefined) return [];
    return [
      {
        id: text(trace["id"]) ?? startedAt,
        startedAt,
        endedAt: text(trace["endedAt"]),
        trigger: isRecord(trace["trigger"]) ? (number(trace["trigger"]["index"]) ?? -1) : -1,
        conditions: list(trace["conditions"]).filter(isRecord).map(conditionIn),
        actions: list(trace["actions"]).filter(isRecord).map(actionIn),
        result: text(trace["result"]) ?? "",
        error: text(trace["error"]) ?? faultText(trace["error"]),
      },
    ];
  });
  return traces.toSorted((a, b) => b.startedAt.localeCompare(a.startedAt));
}

function conditionIn({ index, result, value }: Fields, at: number): TracedCondition {
  return { index: number(index) ?? at, result: result === true, value };
}

function actionIn(action: Fields, at: number): TracedAction {
  return {
    at: text(action["at"]) ?? String(number(action["index"]) ?? at),
    type: text(action["type"]) ?? "",
    request: partIn(action["request"]),
    conditions: list(action["conditions"]).filter(isRecord).map(conditionIn),
    value: action["value"],
    result: text(action["result"]) ?? "",
    startedAt: text(action["startedAt"]),
    endedAt: text(action["endedAt"]),
    error: text(action["error"]) ?? faultText(action["error"]),
  };
}

/** A fault of the host as a sentence with its place. */
function faultText(fault: unknown): string | undefined {
  if (!isRecord(fault)) return undefined;
  const message = text(fault["message"]) ?? text(fault["detail"]);
  const { file, line } = fault;
  if (message === undefined || typeof file !== "string") return message;
  return `${message} (${file}${typeof line === "number" ? `:${line}` : ""})`;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;
const number = (value: unknown): number | undefined =>
  typeof value === "number" ? value : undefined;
const textIn = (value: unknown, key: string): string | undefined =>
  isRecord(value) ? text(value[key]) : undefined;

import type {
  RunResult,
  ShownRequest,
  Step,
  StepResult,
  TracedCondition,
  TriggerEvent,
} from "./automation.ts";
import type { RampState } from "./ramp.ts";
import type { StoredWatch } from "./watch.ts";

/** One step that a run has begun. Instants are epoch milliseconds. */
export interface JournalEntry {
  /** The step's type and place, by which a repeated run recognises it. */
  readonly key: string;
  readonly at: string;
  readonly type: Step["type"];
  /** Absent for values of code, and in journals of previous versions. */
  readonly request?: ShownRequest;
  /** The conditions of a `check` with the values that they saw. */
  conditions?: readonly TracedCondition[];
  readonly startedAt: number;
  endedAt?: number;
  result?: StepResult;
  /** For a wait: the instant at which it ends. */
  dueAt?: number;
  /** For a wait for a trigger: the state of the trigger. */
  watch?: StoredWatch;
  /** For a ramp: how far it has come. */
  ramp?: RampState;
}

/** A run as it began. */
export interface RunHead {
  readonly id: string;
  readonly automation: string;
  readonly name: string;
  readonly startedAt: number;
  readonly trigger: TriggerEvent;
  readonly conditions: readonly TracedCondition[];
  /** Plain data of its automation, such as the actions of a document, also after that has changed. */
  readonly kept?: unknown;
}

/** A run as it is stored, with the steps that it has begun. */
export interface StoredRun extends RunHead {
  readonly journal: readonly JournalEntry[];
}

/** The words by which a repeated run recognises a step. */
export const keyOf = ({ type, at }: Step) => `${type} ${at}`;

/** A step as it begins at an instant. */
export function entryOf(step: Step, startedAt: number): JournalEntry {
  const { at, ...request } = step;
  const entry = { key: keyOf(step), at, type: step.type, startedAt };
  if (request.type === "value") return entry;
  if (request.type !== "variable") return { ...entry, request };
  return { ...entry, request: { type: request.type, name: request.name } };
}

/** The end of a run. */
export interface RunEnd {
  readonly result: Exclude<RunResult, "running">;
  readonly error?: string;
}

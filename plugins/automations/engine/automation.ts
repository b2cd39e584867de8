import type { Cause, CommandBody, DeviceEvent, StateValue } from "@mantel/plugin-sdk";
import type { Condition, Mode, Trigger } from "./document.ts";

/**
 * One automation, of either kind. The engine watches its triggers, checks its conditions and keeps its runs; `perform`
 * is all that the kinds do differently.
 */
export interface Automation {
  readonly id: string;
  readonly name: string;
  readonly kind: "document" | "code";
  readonly enabled: boolean;
  readonly mode: Mode;
  readonly triggers: readonly Trigger[];
  readonly conditions: readonly Condition[];
  /** The owner of its variables: the document itself, or the file of code. */
  readonly owner: string;
  /** Plain data that a run keeps, also when the automation changes, and that `perform` gets: the actions of a document. */
  readonly kept?: unknown;
  /** The reason why it is set aside until its file changes, as a user-facing sentence. */
  readonly failure?: string;
  /**
   * Performs the actions. After a reload, a restart or a crash it is called again from the beginning: steps that ended
   * before return their recorded results at once, so it must take the same steps. Everything that
   * the engine should know of goes through `run.step`. A rejection fails the run.
   */
  readonly perform: (run: Run, kept: unknown) => Promise<void>;
}

/** One run, as `perform` sees it. */
export interface Run {
  readonly id: string;
  readonly automation: string;
  /** The instant at which it began, in epoch milliseconds. */
  readonly startedAt: number;
  readonly trigger: TriggerEvent;
  /**
   * Takes a step. Resolves when it has ended, or at once with the recorded result if it ended before a restart. A step that
   * fails does not reject.
   * @throws RunCancelled when the run is cancelled; let it pass
   */
  step(step: Step): Promise<StepResult>;
}

/** Thrown by `run.step` of a run that was cancelled. */
export class RunCancelled extends Error {
  override readonly name = "RunCancelled";
}

/** A step of a run, as plain data. */
export type Step = StepRequest & {
  /** The place in the automation: `2/then/0` for documents, file and line for code. Shown in traces. */
  readonly at: string;
};
export type StepRequest =
  | {
      readonly type: "command";
      readonly device: string;
      readonly command: CommandBody;
      readonly forMs?: number;
    }
  | { readonly type: "scene"; readonly scene: string }
  /** With `maxMs` a random time between both. */
  | { readonly type: "wait"; readonly ms: number; readonly maxMs?: number }
  | RampRequest
  /** `value` of the result is true if the trigger fired, false after the timeout. */
  | { readonly type: "waitFor"; readonly trigger: Trigger; readonly timeoutMs: number }
  | { readonly type: "notify"; readonly message: string; readonly to?: string | readonly string[] }
  /** `value` of the result is true if all conditions are met. */
  | { readonly type: "check"; readonly conditions: readonly Condition[] }
  /** `value` of the result is the value of a field. */
  | { readonly type: "read"; readonly device: string; readonly field: string }
  /** Records a value of the code, such as a random number; the result has the recorded one. */
  | { readonly type: "value"; readonly value: unknown }
  | VariableRequest;

/** Changes a number of a device evenly during a time, such as the brightness of a lamp. */
export interface RampRequest {
  readonly type: "ramp";
  readonly device: string;
  readonly field: string;
  readonly to: number;
  readonly ms: number;
}

/**
 * Reads or sets a variable. `value` of the result is its value afterwards. With `expected` it is only set if it has this
 * value before (`null`: if it was never set), and `value` is true if it was.
 */
export interface VariableRequest {
  readonly type: "variable";
  readonly name: string;
  readonly set?: unknown;
  readonly add?: number;
  readonly expected?: unknown;
}

export interface StepResult {
  readonly result: "ok" | "failed";
  readonly value?: unknown;
  /** A user-facing sentence. */
  readonly error?: string;
}

/** The event that started a run. */
export interface TriggerEvent {
  /** The index of the trigger; -1 for a run by hand. */
  readonly index: number;
  readonly type: Trigger["type"] | "manual";
  /** Epoch milliseconds. */
  readonly at: number;
  readonly device?: string;
  readonly field?: string;
  readonly from?: StateValue;
  readonly to?: StateValue;
  readonly event?: string;
  readonly data?: DeviceEvent["data"];
  readonly topic?: string;
  readonly payload?: string;
  /** The body of a webhook: JSON as plain data, or else text. */
  readonly body?: unknown;
  readonly title?: string;
  /** The cause of the trigger, such as the device or another automation. */
  readonly cause?: Cause;
}

/** The result of a run. `stopped`: its conditions were not met. */
export type RunResult = "running" | "completed" | "stopped" | "failed" | "cancelled";

export interface TracedCondition {
  readonly index: number;
  readonly result: boolean;
  /** The value that the condition saw; for a group the traces of its parts. */
  readonly value?: unknown;
}

export interface TracedAction {
  /** The index among the automation's actions. */
  readonly index: number;
  /** The place of an action inside an `if`, such as `2/then/0`. */
  readonly at: string;
  readonly type: StepRequest["type"] | "undo";
  readonly result: "running" | "ok" | "failed" | "skipped";
  /** The request, such as the device and the command; absent for `undo` and for values of code. */
  readonly request?: ShownRequest;
  /** The conditions of a `check` with the values that they saw. */
  readonly conditions?: readonly TracedCondition[];
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly value?: unknown;
  readonly error?: string;
}

/** A request without the new value of a variable, which may be large; the result has it. */
export type ShownRequest =
  | Exclude<StepRequest, { type: "value" | "variable" }>
  | Pick<VariableRequest, "type" | "name">;

/** All that happened in one run. Instants are ISO 8601 in UTC. */
export interface Trace {
  readonly id: string;
  readonly automation: string;
  readonly name: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly trigger: {
    readonly index: number;
    readonly event: Omit<TriggerEvent, "index" | "at"> & { readonly at: string };
  };
  readonly conditions: readonly TracedCondition[];
  readonly actions: readonly TracedAction[];
  readonly result: RunResult;
  readonly error?: string;
}

/** A device as the engine knows it. */
export interface EngineDevice {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly available: boolean;
  readonly state: Readonly<Record<string, StateValue>>;
  readonly parts?: readonly {
    readonly id: string;
    readonly state: Readonly<Record<string, StateValue>>;
  }[];
  readonly extra?: { readonly state: Readonly<Record<string, StateValue>> };
}

/** An event of a calendar. Instants are epoch milliseconds. */
export interface EngineCalendarEvent {
  readonly id: string;
  readonly calendar: string;
  readonly title: string;
  readonly start: number;
  readonly end: number;
  /** The instants of its reminders; absent without any. */
  readonly reminders?: readonly number[];
}

/** The automation for which the engine acts, and the cause of its run. */
export interface ActsFor {
  readonly automation: { readonly id: string; readonly name: string };
  readonly parent?: Cause;
}

/** The home that the engine acts on: the real one, or a simulated one. */
export interface EngineHome {
  /** IANA time zone. */
  readonly timeZone: string;
  /** `undefined` if the home has no coordinates; then it has no sun. */
  readonly coordinates: { readonly latitude: number; readonly longitude: number } | undefined;
  command(device: string, command: CommandBody, by: ActsFor): Promise<void>;
  activateScene(scene: string, by: ActsFor): Promise<void>;
  notify(message: string, to: readonly string[] | undefined, from: string): Promise<void>;
}

/** Stops what was begun. */
export type Stop = () => void;

/** The engine's clock: the system's, or a virtual one. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds that only pass, whatever happens to the date. */
  monotonic(): number;
  /** Calls once when the time has passed, whatever happens to the date meanwhile. */
  after(ms: number, call: () => void): Stop;
}

import { type Run, RunCancelled, type Step, type StepResult } from "../engine/automation.ts";
import { parseDocument } from "../parse-document.ts";
import type { CodeFault, FromThread, ToThread } from "./protocol.ts";

/** A function that waits for this long without a step does not end. */
const HUNG_MS = 60_000;

interface Call {
  readonly number: number;
  readonly version: number;
  readonly index: number;
  readonly run: Run;
  /** The steps that were taken, by their type and place. */
  readonly steps: Map<string, Promise<StepResult>>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** Steps of the present thread that have not ended. */
  waiting: Set<number>;
  hanging?: NodeJS.Timeout | undefined;
  lastPlace?: string;
}

interface Dependencies {
  readonly post: (message: ToThread) => void;
  /** Called when a function does not end. */
  readonly hung: (version: number, reason: string) => void;
  readonly hungMs?: number | undefined;
}

/** The running functions of automations. When the thread is lost, they run again, and their steps are not taken twice. */
export class CodeCalls {
  readonly #parts: Dependencies;
  readonly #calls = new Map<number, Call>();
  #last = 0;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Runs a function. @throws Error of the function, RunCancelled */
  start(version: number, index: number, run: Run): Promise<void> {
    return new Promise((resolve, reject) => {
      const number = ++this.#last;
      const call: Call = {
        number,
        version,
        index,
        run,
        steps: new Map(),
        resolve,
        reject,
        waiting: new Set(),
      };
      this.#calls.set(number, call);
      this.#begin(call);
    });
  }

  /** The version of a running function. */
  versionOf(call: number): number | undefined {
    return this.#calls.get(call)?.version;
  }

  takeStep({ call: number, step, at, request }: Extract<FromThread, { kind: "step" }>): void {
    const call = this.#calls.get(number);
    if (!call) return;
    const key = `${request.type} ${at}`;
    call.lastPlace = at;
    call.waiting.add(step);
    this.#stopHanging(call);
    const known = call.steps.get(key);
    const taken = known ?? take(call.run, { ...request, at });
    call.steps.set(key, taken);
    const { waiting } = call;
    taken.then(
      (result) => {
        if (call.waiting !== waiting || !this.#calls.has(number)) return; // of a thread that was lost
        waiting.delete(step);
        this.#startHanging(call);
        this.#parts.post({ kind: "result", call: number, step, result });
      },
      (error: Error) => {
        if (!this.#end(call)) return;
        this.#parts.post({ kind: "cancel", call: number });
        call.reject(error);
      },
    );
  }

  takeEnd({ call: number, fault }: Extract<FromThread, { kind: "ended" }>): void {
    const call = this.#calls.get(number);
    if (!call || !this.#end(call)) return;
    if (fault) call.reject(new Error(sentenceOf(fault)));
    else call.resolve();
  }

  /** Ends the functions of a version. */
  fail(version: number, reason: string): void {
    for (const call of this.#calls.values()) {
      if (call.version !== version || !this.#end(call)) continue;
      this.#parts.post({ kind: "cancel", call: call.number });
      call.reject(new Error(reason));
    }
  }

  /** Begins all functions again in a new thread. */
  repeat(): void {
    for (const call of this.#calls.values()) {
      call.waiting = new Set();
      this.#begin(call);
    }
  }

  stop(): void {
    for (const call of this.#calls.values()) {
      this.#end(call);
      call.reject(new RunCancelled("the plugin stops"));
    }
  }

  #begin(call: Call): void {
    const { number, version, index, run } = call;
    const { id, startedAt, trigger } = run;
    const given = { id, startedAt, trigger };
    this.#startHanging(call);
    this.#parts.post({ kind: "run", version, index, call: number, run: given });
  }

  #startHanging(call: Call): void {
    this.#stopHanging(call);
    if (call.waiting.size > 0) return;
    const { hungMs = HUNG_MS } = this.#parts;
    call.hanging = setTimeout(() => {
      const place = call.lastPlace === undefined ? "" : `, after ${call.lastPlace}`;
      const time = `${Math.round(hungMs / 1_000)} s`;
      const reason = `its function waits for something that never ends: no step in ${time}${place}`;
      this.#parts.hung(call.version, reason);
    }, hungMs).unref();
  }

  #stopHanging(call: Call): void {
    clearTimeout(call.hanging);
    call.hanging = undefined;
  }

  #end(call: Call): boolean {
    this.#stopHanging(call);
    return this.#calls.delete(call.number);
  }
}

/** Takes a step of code, whose data is not checked yet. @throws Error with a sentence about wrong data */
async function take(run: Run, step: Step): Promise<StepResult> {
  const checked = { name: "a step", triggers: [], conditions: [] };
  if (step.type === "waitFor") parseDocument({ ...checked, triggers: [step.trigger] });
  if (step.type === "check") parseDocument({ ...checked, conditions: step.conditions });
  return run.step(step);
}

/** An error of code as a sentence with its line. */
export function sentenceOf({ message, line }: CodeFault): string {
  return line === undefined ? message : `line ${line}: ${message}`;
}

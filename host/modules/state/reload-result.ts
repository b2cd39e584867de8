import { MantelError } from "@mantel/plugin-sdk/errors";
import type { LastReload, LeftOpen, ModuleFault, ReloadResult } from "../../api/module.ts";
import { toFault } from "../errors/to-fault.ts";
import { type ModuleStatus } from "./status.ts";

export type ReloadTrigger = LastReload["trigger"];

/** The result of a handover from one process to another. */
export interface HandoverResult {
  readonly downtimeMs: number;
  readonly drained: number;
  readonly stateHandedOver: boolean;
  /** Memory of the old process before the handover, and of the new one after it. */
  readonly memory: { readonly beforeBytes: number; readonly afterBytes: number };
  /** Resources that the old code did not close. */
  readonly leftOpen: readonly LeftOpen[];
}

/** The handover fields of a reload in which no process was replaced. */
const NO_SWAP = { drained: 0, stateHandedOver: false, downtimeMs: 0 };

/** Measures one reload, writes its result into the module's status, and returns it. */
export class ReloadRecord {
  readonly #status: ModuleStatus;
  readonly #trigger: ReloadTrigger;
  readonly #from: number;
  readonly #startedAt = performance.now();

  constructor(status: ModuleStatus, trigger: ReloadTrigger) {
    this.#status = status;
    this.#trigger = trigger;
    this.#from = status.view.generation;
  }

  reloaded(swap?: HandoverResult): ReloadResult {
    return this.#end("reloaded", swap);
  }

  /** Records that the previous code runs, as requested. */
  rolledBack(swap?: HandoverResult): ReloadResult {
    return this.#end("rolled_back", swap);
  }

  /** Records that the code already runs. */
  unchanged(isNoted: boolean): ReloadResult {
    return this.#end("unchanged", undefined, isNoted);
  }

  /**
   * Records that the new code did not start; old code that works continues. Returns the error to answer with.
   *
   * @param downtimeMs the time for which calls waited meanwhile
   */
  failed(error: unknown, downtimeMs = 0): MantelError {
    this.reject(toFault(error), downtimeMs);
    return asReloadFailure(error, this.#status.isWorking);
  }

  /** Records that the new code failed: at its start, or in a crash soon after. */
  reject(fault: ModuleFault, downtimeMs = 0): void {
    this.#status.reloaded({
      trigger: this.#trigger,
      result: this.#status.isWorking && this.#trigger !== "rollback" ? "rolled_back" : "failed",
      durationMs: this.#elapsed(),
      downtimeMs: rounded(downtimeMs),
      error: fault,
    });
  }

  #end(result: ReloadResult["result"], swap?: HandoverResult, isNoted = true): ReloadResult {
    const { drained, stateHandedOver, downtimeMs } = swap ?? NO_SWAP;
    const timed = { durationMs: this.#elapsed(), downtimeMs: rounded(downtimeMs) };
    const handed = swap ? { memory: swap.memory, leftOpen: [...swap.leftOpen] } : {};
    if (isNoted) {
      const outcome = { trigger: this.#trigger, result, ...timed, ...handed };
      this.#status.reloaded(swap ? { ...outcome, stateHandedOver } : outcome);
    }
    const [from, to] = [this.#from, this.#status.view.generation];
    return { result, from, to, ...timed, drained, stateHandedOver, ...handed };
  }

  #elapsed(): number {
    return rounded(performance.now() - this.#startedAt);
  }
}

function asReloadFailure(error: unknown, rolledBack: boolean): MantelError {
  const known = error instanceof MantelError ? error : undefined;
  return new MantelError("reload_failed", known?.message ?? String(error), {
    ...known?.extras,
    cause: error,
    rolledBack,
  });
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

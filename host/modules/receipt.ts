import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Swap } from "./reload/server-side.ts";
import type { ModuleStatus } from "./status.ts";
import { toFault } from "./status.ts";
import type { LastReload, ModuleFault, ReloadReceipt } from "./view.ts";

export type ReloadTrigger = LastReload["trigger"];

/** What a reload has to say of a swap when no process changed hands. */
const NO_SWAP = { drained: 0, stateHandedOver: false, downtimeMs: 0 };

/** Times one reload, writes its end into the module's status, and makes the receipt. */
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

  reloaded(swap?: Swap): ReloadReceipt {
    return this.#end("reloaded", swap);
  }

  /** The earlier code runs, as somebody asked for. */
  rolledBack(swap?: Swap): ReloadReceipt {
    return this.#end("rolled_back", swap);
  }

  /** The code is what runs already. */
  unchanged(isNoted: boolean): ReloadReceipt {
    return this.#end("unchanged", undefined, isNoted);
  }

  /** The new code did not start; when old code works, it goes on. Gives the failure to answer with. */
  failed(error: unknown): MantelError {
    this.notGood(toFault(error));
    return asReloadFailure(error, this.#status.isWorking);
  }

  /** The other code is wrong, which may have shown only after it had started. */
  notGood(fault: ModuleFault): void {
    this.#status.reloaded({
      trigger: this.#trigger,
      result: this.#status.isWorking && this.#trigger !== "rollback" ? "rolled_back" : "failed",
      durationMs: this.#elapsed(),
      downtimeMs: 0,
      error: fault,
    });
  }

  #end(result: ReloadReceipt["result"], swap?: Swap, isNoted = true): ReloadReceipt {
    const { drained, stateHandedOver, downtimeMs } = swap ?? NO_SWAP;
    const timed = { durationMs: this.#elapsed(), downtimeMs: rounded(downtimeMs) };
    const handed = swap ? { memory: swap.memory, leftOpen: [...swap.leftOpen] } : {};
    if (isNoted) {
      const told = { trigger: this.#trigger, result, ...timed, ...handed };
      this.#status.reloaded(swap ? { ...told, stateHandedOver } : told);
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

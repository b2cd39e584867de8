import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Swap } from "./reload/server-side.ts";
import type { ModuleStatus } from "./status.ts";
import { toFault } from "./status.ts";
import type { LastReload, ModuleFault, ReloadReceipt } from "./view.ts";

export type ReloadTrigger = LastReload["trigger"];

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
    const durationMs = this.#elapsed();
    const downtimeMs = rounded(swap?.downtimeMs ?? 0);
    const handed = swap ? { memory: swap.memory, leftOpen: [...swap.leftOpen] } : {};
    if (isNoted) {
      const trigger = this.#trigger;
      this.#status.reloaded({ trigger, result, durationMs, downtimeMs, ...handed });
    }
    return {
      result,
      from: this.#from,
      to: this.#status.view.generation,
      durationMs,
      downtimeMs,
      drained: swap?.drained ?? 0,
      stateHandedOver: swap?.stateHandedOver ?? false,
      ...handed,
    };
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

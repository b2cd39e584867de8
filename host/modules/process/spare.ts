import { isDeepStrictEqual } from "node:util";
import type { PrepareRequest } from "@mantel/plugin-sdk/protocol";
import { watchExcess } from "./excess.ts";
import { Generation, type ProcessSettings } from "./generation.ts";

/** Packages that take longer to load than this are not worth a process that waits. */
const PREPARE_DEADLINE_MS = 5_000;

/** What a process is started with, and what it then loads ahead. */
export interface Readiness {
  readonly settings: ProcessSettings;
  readonly packages: PrepareRequest;
}

/**
 * Keeps one process with a plugin's packages and without its code, so that a reload does not wait for
 * either. What a process may reach is settled when it starts, so the spare fits one plugin: the one that
 * was reloaded last.
 */
export class Spare {
  /** None until the runtime was compiled. */
  #runtime = "";
  #waiting: (Readiness & { readonly generation: Generation }) | undefined;
  #closed = false;
  /** Reloads that are under way, of all modules. */
  #reloads = 0;
  /** Starts the next spare for the module that was reloaded last. */
  #warmLast: (() => void) | undefined;

  /** The process that is ready for this when there is one, or else a new one. */
  take(wanted: Readiness): Generation {
    const waiting = this.#waiting;
    if (!waiting || !fits(waiting, wanted)) return this.#fork(wanted.settings);
    this.#waiting = undefined;
    return waiting.generation;
  }

  /**
   * A new process that a debugger may attach to, at this port of the loopback address. Node's permission
   * model closes the inspector, so it is off.
   */
  debuggable(settings: ProcessSettings, inspectPort: number): Generation {
    return this.#fork({ ...settings, flags: [] }, inspectPort);
  }

  /**
   * Carries out a reload, and then has the next spare started by `warm`; of several at once the last one does,
   * because a spare fits one plugin and its start would keep the others' callers waiting.
   */
  async whileReloading<T>(reload: () => Promise<T>, warm?: () => void): Promise<T> {
    this.#reloads += 1;
    try {
      return await reload();
    } finally {
      this.#reloads -= 1;
      this.#warmLast = warm ?? this.#warmLast;
      if (this.#reloads === 0) this.#warmNext();
    }
  }

  #warmNext(): void {
    const warm = this.#warmLast;
    this.#warmLast = undefined;
    warm?.();
  }

  /** Starts the next spare, and gives it; `undefined` when the one that waits fits. */
  warm(wanted: Readiness): Generation | undefined {
    const unused = this.#waiting;
    if (this.#closed || (unused && fits(unused, wanted))) return undefined;
    const generation = this.#fork(wanted.settings);
    const waiting = { ...wanted, generation };
    this.#waiting = waiting;
    const isUnused = (): boolean => this.#waiting === waiting;
    void generation.exited.then(() => {
      if (isUnused()) this.#waiting = undefined;
    });
    void generation.peer.call("prepare", wanted.packages, PREPARE_DEADLINE_MS).catch(() => {
      if (isUnused()) void generation.terminate(); // whoever has taken it hears why
    });
    void unused?.generation.terminate();
    return generation;
  }

  /** Makes all later processes start from `runtime`; false when they do already. */
  async renew(runtime: string): Promise<boolean> {
    if (this.#runtime === runtime) return false;
    this.#runtime = runtime;
    const unused = this.#waiting;
    this.#waiting = undefined;
    await unused?.generation.terminate();
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#waiting?.generation.terminate();
  }

  #fork(settings: ProcessSettings, inspectPort?: number): Generation {
    const generation = Generation.fork(this.#runtime, settings, inspectPort);
    watchExcess(generation);
    return generation;
  }
}

function fits(ready: Readiness, wanted: Readiness): boolean {
  return (
    isDeepStrictEqual(ready.settings, wanted.settings) &&
    isDeepStrictEqual(ready.packages, wanted.packages)
  );
}

import { isDeepStrictEqual } from "node:util";
import type { PrepareRequest } from "@mantel/plugin-sdk/protocol";
import { PluginProcess, type ProcessSettings } from "./plugin-process.ts";
import { watchResourceLimits } from "./resource-limits.ts";
import type { Kernel } from "./sandbox/kernel.ts";

/** Packages that take longer to load than this are not loaded ahead. */
const PREPARE_DEADLINE_MS = 5_000;

/** A warm process that no reload has taken for this long is ended: it has as much memory as a small plugin. */
const WARM_FOR_MS = 120_000;

/** The settings of a warm process, and the packages it loads ahead. */
export interface WarmSettings {
  readonly settings: ProcessSettings;
  readonly packages: PrepareRequest;
}

/**
 * Holds one process with a plugin's packages and without its code, so that a reload waits for
 * neither. The permissions of a process are fixed when it starts, so the warm process fits one plugin: the one that
 * was reloaded last.
 */
export class WarmProcessPool {
  readonly #kernel: Kernel;
  /** Empty until the runtime was compiled. */
  #runtime = "";
  #waiting: (WarmSettings & { readonly generation: PluginProcess }) | undefined;
  #closed = false;
  #reloads = 0;
  /** Starts the next warm process for the module that was reloaded last. */
  #warmLast: (() => void) | undefined;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** The number of running reloads, of all modules. */
  get reloads(): number {
    return this.#reloads;
  }

  /** The path of the code that new processes run. */
  get runtime(): string {
    return this.#runtime;
  }

  /** The warm process if it fits, otherwise a new process. */
  take(wanted: WarmSettings): PluginProcess {
    const waiting = this.#waiting;
    if (!waiting || !fits(waiting, wanted)) return this.#fork(wanted.settings);
    this.#waiting = undefined;
    return waiting.generation;
  }

  /**
   * A new process with a debugger port on the loopback address. Node's permission
   * model closes the inspector, so it is off, and the process uses the machine's network.
   */
  debuggable(settings: ProcessSettings, inspectPort: number): PluginProcess {
    const sandbox = { ...settings.sandbox, hasOpenNetwork: true };
    return this.#fork({ ...settings, flags: [], sandbox }, inspectPort);
  }

  /**
   * Runs a reload, and then starts the next warm process by `warm`; of several reloads at once only the last one does,
   * because a warm process fits one plugin and its start would keep the others' callers waiting.
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

  /** Starts the next warm process and returns it; `undefined` if the current one fits. */
  warm(wanted: WarmSettings): PluginProcess | undefined {
    const unused = this.#waiting;
    if (this.#closed || (unused && fits(unused, wanted))) return undefined;
    const generation = this.#fork(wanted.settings);
    const waiting = { ...wanted, generation };
    this.#waiting = waiting;
    const isUnused = (): boolean => this.#waiting === waiting;
    const ending = setTimeout(() => {
      if (isUnused()) void generation.terminate();
    }, WARM_FOR_MS).unref();
    void generation.exited.then(() => {
      clearTimeout(ending);
      if (isUnused()) this.#waiting = undefined;
    });
    void generation.peer.call("prepare", wanted.packages, PREPARE_DEADLINE_MS).catch(() => {
      if (isUnused()) void generation.terminate(); // a caller that has taken it gets the error itself
    });
    void unused?.generation.terminate();
    return generation;
  }

  /** Starts all later processes from `runtime`; false if it is the current one. */
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

  #fork(settings: ProcessSettings, inspectPort?: number): PluginProcess {
    const generation = PluginProcess.fork(this.#runtime, settings, this.#kernel, inspectPort);
    watchResourceLimits(generation);
    return generation;
  }
}

function fits(ready: WarmSettings, wanted: WarmSettings): boolean {
  return (
    isDeepStrictEqual(ready.settings, wanted.settings) &&
    isDeepStrictEqual(ready.packages, wanted.packages)
  );
}

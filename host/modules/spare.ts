import { isDeepStrictEqual } from "node:util";
import { Generation, type ProcessSettings } from "./generation.ts";

/**
 * Keeps one started process without a plugin, so that a reload does not wait for a start. What a process
 * may reach is settled when it starts, so the spare fits one plugin: the one that was reloaded last.
 */
export class Spare {
  /** None until the runtime was compiled. */
  #runtime = "";
  #waiting: Generation | undefined;
  #closed = false;

  /** A process with these settings: the warm one when it fits, or else a new one. */
  take(settings: ProcessSettings): Generation {
    const waiting = this.#waiting;
    if (!waiting || !fits(waiting, settings)) return Generation.fork(this.#runtime, settings);
    this.#waiting = undefined;
    return waiting;
  }

  /**
   * A new process that a debugger may attach to, at this port of the loopback address. Node's permission
   * model closes the inspector, so it is off.
   */
  debuggable(settings: ProcessSettings, inspectPort: number): Generation {
    return Generation.fork(this.#runtime, { ...settings, flags: [] }, inspectPort);
  }

  /** Starts the next spare, unless the one that waits fits. */
  async warm(settings: ProcessSettings): Promise<void> {
    const unused = this.#waiting;
    if (this.#closed || (unused && fits(unused, settings))) return;
    const spare = Generation.fork(this.#runtime, settings);
    this.#waiting = spare;
    void spare.exited.then(() => {
      if (this.#waiting === spare) this.#waiting = undefined;
    });
    await unused?.terminate();
  }

  /** Makes all later processes start from `runtime`; false when they do already. */
  async renew(runtime: string): Promise<boolean> {
    if (this.#runtime === runtime) return false;
    this.#runtime = runtime;
    const unused = this.#waiting;
    this.#waiting = undefined;
    await unused?.terminate();
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#waiting?.terminate();
  }
}

function fits({ settings }: Generation, wanted: ProcessSettings): boolean {
  return isDeepStrictEqual(settings, wanted);
}

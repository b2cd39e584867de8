import { Generation } from "./generation.ts";

/** Keeps one started process without a plugin, so that a reload does not wait for a start. */
export class Spare {
  /** None until the runtime was compiled. */
  #runtime = "";
  #waiting: Generation | undefined;
  #closed = false;

  /** A process with this heap limit: the warm one when it fits, or else a new one. */
  take(memoryMiB: number): Generation {
    const waiting = this.#waiting;
    if (waiting?.memoryMiB !== memoryMiB) return Generation.fork(this.#runtime, memoryMiB);
    this.#waiting = undefined;
    return waiting;
  }

  /** A new process that a debugger may attach to, at this port of the loopback address. */
  debuggable(memoryMiB: number, inspectPort: number): Generation {
    return Generation.fork(this.#runtime, memoryMiB, inspectPort);
  }

  /** Starts the next spare. Call it when the reload is over, so that it does not slow it down. */
  async warm(memoryMiB: number): Promise<void> {
    if (this.#closed || this.#waiting?.memoryMiB === memoryMiB) return;
    const unused = this.#waiting;
    const spare = Generation.fork(this.#runtime, memoryMiB);
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

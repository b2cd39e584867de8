import { setImmediate } from "node:timers/promises";

const SLICE_MS = 25;

/** Says when long work should give way to the event loop, so that it delays nothing else. */
export class Pace {
  #sliceEnd = performance.now() + SLICE_MS;

  get due(): boolean {
    return performance.now() > this.#sliceEnd;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#sliceEnd = performance.now() + SLICE_MS;
  }
}

import { LoopWatch } from "./loop-watch.ts";

/** The globals that a widget's bare names mean: all that is opened through them ends together. */
export interface ScopedGlobals {
  setTimeout(run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): number;
  clearTimeout(id?: number): void;
  setInterval(run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): number;
  clearInterval(id?: number): void;
  requestAnimationFrame(run: FrameRequestCallback): number;
  cancelAnimationFrame(id: number): void;
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
  addEventListener(
    type: string,
    run: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener(
    type: string,
    run: EventListenerOrEventListenerObject,
    options?: boolean | EventListenerOptions,
  ): void;
  /** Called in every pass of every loop. */
  mantelLoop(): void;
}

/** What one mounted widget has opened. `end` closes it all; what is opened later is refused. */
export class Scope {
  readonly #controller = new AbortController();
  readonly #releases: (() => void)[] = [];
  readonly #timers = new Set<number>();
  readonly #frames = new Set<number>();
  readonly #loops: LoopWatch;

  /** `onEndless` hears of a loop that was ended because it did not come to its end. */
  constructor(onEndless: (error: Error) => void = () => undefined) {
    this.#loops = new LoopWatch(onEndless);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  onEnd(release: () => void): void {
    if (this.signal.aborted) release();
    else this.#releases.push(release);
  }

  /** Ends everything, last opened first. A release that throws does not keep the others back. */
  end(): void {
    this.#controller.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    for (const frame of this.#frames) cancelAnimationFrame(frame);
    this.#timers.clear();
    this.#frames.clear();
    for (const release of this.#releases.splice(0).toReversed()) {
      try {
        release();
      } catch (error) {
        console.error("a widget failed to release something", error);
      }
    }
  }

  readonly globals: ScopedGlobals = {
    setTimeout: (run, ms, ...args) =>
      this.#keep(this.#timers, (done) =>
        window.setTimeout(() => {
          done();
          run(...args);
        }, ms),
      ),
    setInterval: (run, ms, ...args) =>
      this.#keep(this.#timers, () => window.setInterval(run, ms, ...args)),
    requestAnimationFrame: (run) =>
      this.#keep(this.#frames, (done) =>
        window.requestAnimationFrame((now) => {
          done();
          run(now);
        }),
      ),
    clearTimeout: (id) => this.#drop(this.#timers, id, clearTimeout),
    clearInterval: (id) => this.#drop(this.#timers, id, clearInterval),
    cancelAnimationFrame: (id) => this.#drop(this.#frames, id, cancelAnimationFrame),
    fetch: (input, init = {}) =>
      window.fetch(input, { ...init, signal: this.#withOwn(init.signal) }),
    addEventListener: (type, run, options = {}) =>
      window.addEventListener(type, run, {
        ...(typeof options === "boolean" ? { capture: options } : options),
        signal: this.#withOwn(typeof options === "boolean" ? undefined : options.signal),
      }),
    removeEventListener: (type, run, options) => window.removeEventListener(type, run, options),
    mantelLoop: () => this.#loops.pass(),
  };

  #keep(kept: Set<number>, start: (done: () => void) => number): number {
    if (this.signal.aborted) return 0;
    const id = start(() => kept.delete(id));
    kept.add(id);
    return id;
  }

  #drop(kept: Set<number>, id: number | undefined, clear: (id: number) => void): void {
    if (id === undefined) return;
    kept.delete(id);
    clear(id);
  }

  #withOwn(other: AbortSignal | null | undefined): AbortSignal {
    return other ? AbortSignal.any([this.signal, other]) : this.signal;
  }
}

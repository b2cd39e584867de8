import { LoopWatch } from "./loop-watch.ts";

/** Globals for a widget's code. Everything opened through them is closed together. */
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

/**
 * Resources opened by one mounted widget. `end` closes them all; after that, no more can be opened.
 */
export class Scope {
  readonly #controller = new AbortController();
  readonly #releases: (() => void)[] = [];
  readonly #timers = new Set<number>();
  readonly #frames = new Set<number>();
  readonly #loops: LoopWatch;

  /** `onEndless` is called when an infinite loop was stopped. */
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

  /**
   * Closes everything in reverse order of opening. An error in one release does not stop the
   * others.
   */
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
        console.error("could not release a resource of a widget", error);
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
      // A widget uses the host only through its context, never with the session of the user.
      window.fetch(input, { ...init, credentials: "omit", signal: this.#withOwn(init.signal) }),
    addEventListener: (type, run, options = {}) =>
      window.addEventListener(type, run, {
        ...(typeof options === "boolean" ? { capture: options } : options),
        signal: this.#withOwn(typeof options === "boolean" ? undefined : options.signal),
      }),
    removeEventListener: (type, run, options) => window.removeEventListener(type, run, options),
    mantelLoop: () => this.#loops.pass(),
  };

  #keep(timers: Set<number>, start: (done: () => void) => number): number {
    if (this.signal.aborted) return 0;
    const id = start(() => timers.delete(id));
    timers.add(id);
    return id;
  }

  #drop(timers: Set<number>, id: number | undefined, clear: (id: number) => void): void {
    if (id === undefined) return;
    timers.delete(id);
    clear(id);
  }

  #withOwn(other: AbortSignal | null | undefined): AbortSignal {
    return other ? AbortSignal.any([this.signal, other]) : this.signal;
  }
}

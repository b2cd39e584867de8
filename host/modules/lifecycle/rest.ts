import { type FSWatcher, watch } from "node:fs";
import type { Build } from "../versions/version.ts";

/** A module whose process has nothing to do for this long rests. */
export const REST_AFTER_MS = 120_000;

/** The time for which a process could have rested. */
export class IdleTime {
  #since: number | undefined;
  #calls = 0;

  /** Records whether the process has nothing to do now. `calls` is the number of calls to it so far. */
  add(mayRest: boolean, calls: number): void {
    const isIdle = mayRest && calls === this.#calls;
    this.#calls = calls;
    if (!isIdle) this.#since = undefined;
    else this.#since ??= performance.now();
  }

  restart(): void {
    this.#since = undefined;
  }

  /** The time for which it has had nothing to do; 0 if it was called since that was recorded. */
  msAt(calls: number): number {
    if (this.#since === undefined || calls !== this.#calls) return 0;
    return performance.now() - this.#since;
  }
}

/** A module without a process, which starts again when it is needed. */
export class Rest {
  /** The code that starts again. */
  readonly build: Build;
  /** The state that it gets. */
  state: unknown;
  readonly #watchers: FSWatcher[] = [];
  #wake: (() => void) | undefined;

  /**
   * @param wake called once, when it is needed; also for a change in one of `folders`
   * @throws Error if a folder cannot be watched
   */
  constructor(build: Build, folders: readonly string[], wake: () => void) {
    this.build = build;
    this.#wake = wake;
    const changed = () => this.requestWake();
    try {
      for (const folder of folders)
        this.#watchers.push(watch(folder, changed).on("error", changed));
    } catch (error) {
      this.end();
      throw error;
    }
  }

  requestWake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  end(): void {
    this.#wake = undefined;
    for (const watcher of this.#watchers) watcher.close();
  }
}

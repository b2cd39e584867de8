/** More often than this nobody sees a difference, and a page that draws has no time for touches. */
const EVERY_MS = 100;
/** The timers of a hidden page come once a minute; it keeps no more than this until then. */
const MOST_WAITING = 1_000;

/** Hands things on in their order: at once after a rest, else with those that came since, ten times a second. */
export class Bunch<T> {
  readonly #hand: (items: readonly T[]) => void;
  #waiting: T[] = [];
  #handedAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(hand: (items: readonly T[]) => void) {
    this.#hand = hand;
  }

  add(item: T): void {
    this.#waiting.push(item);
    if (this.#waiting.length >= MOST_WAITING) this.#handAll();
    else {
      const wait = Math.max(0, this.#handedAt + EVERY_MS - performance.now());
      this.#timer ??= setTimeout(() => this.#handAll(), wait);
    }
  }

  /** Hands on what waits, and what comes next, at once: somebody waits for it. */
  hurry(): void {
    if (this.#waiting.length > 0) this.#handAll();
    this.#handedAt = -Infinity;
  }

  /** Lets go of what waits. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
  }

  #handAll(): void {
    const items = this.#waiting;
    this.drop();
    this.#handedAt = performance.now();
    this.#hand(items);
  }
}

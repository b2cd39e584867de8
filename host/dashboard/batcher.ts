/** Faster updates are not visible, and a page that keeps drawing cannot respond to touches. */
const EVERY_MS = 100;
/** Maximum number of waiting items: timers of a hidden page fire only once a minute. */
const MOST_WAITING = 1_000;

/**
 * Passes items on in order: immediately after a quiet period, otherwise in batches ten times a
 * second.
 */
export class Batcher<T> {
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

  /** Passes on the waiting items and the next ones without delay, because a user waits for them. */
  sendWithoutDelay(): void {
    if (this.#waiting.length > 0) this.#handAll();
    this.#handedAt = -Infinity;
  }

  /** Discards the waiting items. */
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

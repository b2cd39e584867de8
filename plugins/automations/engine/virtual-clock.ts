import type { Clock, Stop } from "./automation.ts";

interface Planned {
  readonly at: number;
  readonly order: number;
  readonly call: () => void;
  isStopped: boolean;
}

/** A clock that moves only when it is told to. */
export class VirtualClock implements Clock {
  #now: number;
  #passed = 0;
  #order = 0;
  /** A binary heap, the earliest first. */
  readonly #planned: Planned[] = [];

  /** @param now epoch milliseconds */
  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#passed;
  }

  after(ms: number, call: () => void): Stop {
    const at = this.#passed + Math.max(0, ms);
    const planned: Planned = { at, order: this.#order++, call, isStopped: false };
    this.#add(planned);
    return () => (planned.isStopped = true);
  }

  /** Sets the date without time passing, as somebody who sets the clock. */
  set(now: number): void {
    this.#now = now;
  }

  /**
   * Lets time pass, and makes each call at its time.
   * @param settled resolves when everything that a call began has ended
   */
  async advance(ms: number, settled: () => Promise<void>): Promise<void> {
    const end = this.#passed + ms;
    await settled();
    for (let next = this.#take(end); next; next = this.#take(end)) {
      this.#pass(next.at);
      next.call();
      await settled();
    }
    this.#pass(end);
  }

  #pass(to: number): void {
    this.#now += to - this.#passed;
    this.#passed = to;
  }

  #take(end: number): Planned | undefined {
    for (;;) {
      const [first] = this.#planned;
      if (!first || first.at > end) return undefined;
      this.#removeFirst();
      if (!first.isStopped) return first;
    }
  }

  #add(planned: Planned): void {
    const heap = this.#planned;
    let at = heap.push(planned) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (!parent || !isBefore(planned, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = planned;
  }

  #removeFirst(): void {
    const heap = this.#planned;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (!left) break;
      if (right && isBefore(right, left)) child++;
      const least = heap[child];
      if (!least || !isBefore(least, last)) break;
      heap[at] = least;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Planned, b: Planned) => a.at < b.at || (a.at === b.at && a.order < b.order);

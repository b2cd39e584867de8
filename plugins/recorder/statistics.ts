import type { Curve } from "./points.ts";

export const STEP_MS = 5 * 60_000;
export const HOUR_MS = 60 * 60_000;

/** Figures of a field within a span. */
export interface Stat {
  /** Epoch milliseconds. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly min: number;
  readonly max: number;
  /** Weighted by time. */
  readonly mean: number;
  /** The increase of a counter. */
  readonly sum: number;
  /** Milliseconds in which the value was known; 0 if a value was known for an instant only. */
  readonly knownMs: number;
}

/** The value of a field at an instant. */
export interface Carry {
  /** `NaN` while it is unknown. */
  readonly value: number;
  /** The last known value, for counters; `NaN` before the first one. */
  readonly known: number;
}
export const NOTHING: Carry = { value: NaN, known: NaN };

export const hourOf = (at: number): number => Math.floor(at / HOUR_MS);

/** A counter that falls below this share of its value has begun again at 0; smaller steps back are noise. */
const RESET_BELOW = 0.9;

/** Adds up the values of a span. */
export class Figures {
  #min = Infinity;
  #max = -Infinity;
  #area = 0;
  #sum = 0;
  #knownMs = 0;

  /** True if a value was known at any time. */
  get isKnown(): boolean {
    return this.#min <= this.#max;
  }

  /** The value held for a time, which may be 0. */
  hold(value: number, forMs: number): void {
    if (Number.isNaN(value)) return;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
    this.#area += value * forMs;
    this.#knownMs += forMs;
  }

  increase(by: number): void {
    this.#sum += by;
  }

  /** Adds the part of figures that falls into a span of this length. */
  include(stat: Stat, partMs: number): void {
    const share = stat.to > stat.from ? partMs / (stat.to - stat.from) : 1;
    this.#min = Math.min(this.#min, stat.min);
    this.#max = Math.max(this.#max, stat.max);
    this.#area += stat.mean * stat.knownMs * share;
    this.#knownMs += stat.knownMs * share;
    this.#sum += stat.sum * share;
  }

  stat(from: number, to: number): Stat {
    const [min, max, sum, knownMs] = [this.#min, this.#max, this.#sum, this.#knownMs];
    return { from, to, min, max, mean: knownMs > 0 ? this.#area / knownMs : max, sum, knownMs };
  }
}

/** The figures of each step of a span in which a value was known, and the value at its end. */
export function statsOf(
  { at, value }: Curve,
  span: { readonly from: number; readonly to: number; readonly stepMs: number },
  { carry, isCounter }: { readonly carry: Carry; readonly isCounter: boolean },
): { readonly stats: Stat[]; readonly carry: Carry } {
  const { from, to, stepMs } = span;
  const steps = Array.from({ length: Math.ceil((to - from) / stepMs) }, () => new Figures());
  let [now, held, known] = [from, carry.value, carry.known];
  const hold = (until: number): void => {
    while (now < until) {
      const index = Math.floor((now - from) / stepMs);
      const end = Math.min(until, from + (index + 1) * stepMs);
      steps[index]?.hold(held, end - now);
      now = end;
    }
  };
  for (const [index, instant] of at.entries()) {
    if (instant < from || instant >= to) continue;
    hold(instant);
    held = value[index] ?? NaN;
    const step = steps[Math.floor((instant - from) / stepMs)];
    step?.hold(held, 0);
    if (Number.isNaN(held)) continue;
    if (isCounter && !Number.isNaN(known)) step?.increase(increaseOf(known, held));
    known = held;
  }
  hold(to);
  const stats = steps.flatMap((each, index) => {
    const start = from + index * stepMs;
    return each.isKnown ? each.stat(start, Math.min(start + stepMs, to)) : [];
  });
  return { stats, carry: { value: held, known } };
}

/** The increase of a counter between two values. */
function increaseOf(before: number, now: number): number {
  if (now >= before) return now - before;
  return now < before * RESET_BELOW ? now : 0;
}

/** Several stats as one. */
export function merged(stats: readonly Stat[], from: number, to: number): Stat | undefined {
  const figures = new Figures();
  for (const stat of stats) figures.include(stat, stat.to - stat.from);
  return figures.isKnown ? figures.stat(from, to) : undefined;
}

/** The length of the overlap of two spans; 0 if they only touch. */
export function overlapMs(
  a: { readonly from: number; readonly to: number },
  from: number,
  to: number,
): number {
  return Math.max(0, Math.min(a.to, to) - Math.max(a.from, from));
}

export interface Summary {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Each of `others` as a multiple of Mantel's value, by name. */
export function ratios<T>(
  others: Readonly<Record<string, T>>,
  ratio: (other: T) => number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(others).map(([name, other]) => [name, rounded(ratio(other))]),
  );
}

/** Percentiles and maximum, rounded to one decimal. */
export function summarise(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

export function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The median of what `work` resolves with, after a warm-up; two decimals. */
export async function medianOf(
  count: number,
  work: (at: number) => Promise<number>,
): Promise<number> {
  const all: number[] = [];
  const warmUp = Math.ceil(count / 5);
  for (let at = 0; at < count + warmUp; at++) all.push(await work(at));
  return Math.round(median(all.slice(warmUp)) * 100) / 100;
}

/** The median; of an even number of values the upper one of the two in the middle, and 0 of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

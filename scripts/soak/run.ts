import { summarise } from "../bench/shared/figures.ts";
import type { Reading } from "./reading.ts";
import { faultsOf, growthOf } from "./verdict.ts";

interface RequestCounts {
  readonly asked: number;
  readonly failed: number;
  /** By reason. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Something done again and again to one host. */
export interface Run {
  /** @throws Error when the round did not end as it must */
  readonly round: (number: number) => Promise<void>;
  readonly read: () => Promise<Reading>;
  /** By how much figures may grow, where that is not what holds for all. */
  readonly bounds?: Reading;
  /** Ends everything and tells of the requests that ran beside the rounds. */
  readonly end: () => Promise<Partial<RequestCounts>>;
}

/** What has to be in place first: compiled code, full rings of records, a heap of its usual size. */
const WARM_UP_SHARE = 0.1;
const MAX_WARM_UP = 1_000;

/**
 * Does `count` rounds and prints a line of figures at the start (after a warm-up that counts as
 * rounds), in the middle and at the end, and one with the verdict. True when nothing has grown.
 */
export async function carryOut(run: Run, name: string, count: number): Promise<boolean> {
  const warmUp = Math.min(MAX_WARM_UP, Math.ceil(count * WARM_UP_SHARE));
  const readings: Reading[] = [];
  let done = 0;
  for (const [at, until] of [
    ["start", warmUp],
    ["middle", count / 2],
    ["end", count],
  ] as const) {
    const millis: number[] = [];
    while (done < until) {
      const startedAt = performance.now();
      await run.round(++done);
      millis.push(performance.now() - startedAt);
    }
    const figures = await run.read();
    readings.push(figures);
    console.log(
      JSON.stringify({ soak: name, at, rounds: done, ...figures, roundMs: summarise(millis) }),
    );
  }
  const requests = await run.end();
  const [start = {}, , end = {}] = readings;
  const growth = growthOf(start, end);
  const faults = faultsOf(growth, run.bounds);
  if ((requests.failed ?? 0) > 0) faults.push(`${requests.failed} requests failed`);
  const verdict = faults.length === 0 ? "sound" : "broken";
  console.log(JSON.stringify({ soak: name, verdict, rounds: done, growth, ...requests, faults }));
  return faults.length === 0;
}

import { summarise } from "../bench/shared/figures.ts";
import type { Reading } from "./reading.ts";
import { faultsOf, growthOf } from "./verdict.ts";

interface RequestCounts {
  readonly asked: number;
  readonly failed: number;
  /** The number of failures by reason. */
  readonly failures: Readonly<Record<string, number>>;
}

/** An action repeated on one host. */
export interface SoakRun {
  /** @throws Error if the round does not end as expected */
  readonly round: (number: number) => Promise<void>;
  readonly read: () => Promise<Reading>;
  /** Warm-up rounds, if a tenth of the rounds does not fill the bounded histories. */
  readonly warmUp?: number;
  /** Growth limits that differ from the default. */
  readonly bounds?: Reading;
  /** Stops everything and returns the results of the requests that ran during the rounds. */
  readonly end: () => Promise<Partial<RequestCounts>>;
}

/** Warm-up rounds, until code is compiled, log buffers are full and the heap has its usual size. */
const WARM_UP_SHARE = 0.1;
const MAX_WARM_UP = 1_000;

/**
 * Runs `count` rounds. Prints a line of figures at the start (after the warm-up rounds), in the middle and at the end,
 * and then the verdict. Resolves with true if no figure has grown.
 */
export async function runRounds(run: SoakRun, name: string, count: number): Promise<boolean> {
  const usual = Math.min(MAX_WARM_UP, Math.ceil(count * WARM_UP_SHARE));
  const warmUp = Math.min(run.warmUp ?? usual, Math.ceil(count / 2));
  const readings: Reading[] = [];
  let done = 0;
  for (const [at, until] of [
    ["start", warmUp],
    ["middle", Math.ceil((warmUp + count) / 2)],
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

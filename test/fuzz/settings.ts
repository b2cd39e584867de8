import type { TestContext } from "node:test";
import * as fc from "fast-check";

/** The time for each property. `npm run test:long` gives those of test/fuzz more. */
export const FUZZ_SECONDS = Number(process.env["FUZZ_SECONDS"] ?? 1);

/**
 * Checks a property by `runs` random examples, or as many as there is time for. The seed is printed;
 * `FUZZ_SEED` in the environment gives one again, and `FUZZ_PATH` the path of a counterexample. Returns the number of
 * examples.
 */
export async function checkProperty<T>(
  t: TestContext,
  property: fc.IRawProperty<T>,
  runs: number,
): Promise<number> {
  const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  const path = process.env["FUZZ_PATH"];
  t.diagnostic(`FUZZ_SEED=${seed}`);
  const details = await fc.check(property as fc.IAsyncProperty<T>, {
    seed,
    numRuns: runs,
    interruptAfterTimeLimit: FUZZ_SECONDS * 1_000,
    ...(path === undefined ? {} : { path }),
  });
  t.diagnostic(`${details.numRuns} examples`);
  if (details.failed && details.counterexample !== null) {
    const { counterexamplePath, numRuns, errorInstance: cause } = details;
    const again = `FUZZ_SEED=${seed} FUZZ_PATH=${counterexamplePath}`;
    throw new Error(`example ${numRuns} is one that fails; to see it again: ${again}`, { cause });
  }
  return details.numRuns;
}

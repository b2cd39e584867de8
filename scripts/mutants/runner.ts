// A test runner for Stryker (https://stryker-mutator.io/docs/stryker-js/api/): runs all tests in the process of Stryker
// that loads it, and loads the code and the tests again for each change.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Work } from "./context.ts";
import { type RegisteredTest, takeTests } from "./node-test.ts";
import { catchCrashes, DeadlineError, runTest } from "./run-test.ts";

/** Both in Stryker's copy of the repository, which is the working directory of all its processes. */
const BUNDLE = "mutants/tests.mjs";
const DURATIONS = "mutants/durations.json";

/** Modules stay in memory when they are loaded again. */
const MAX_LOADS = 50;
const UNCHANGED_DEADLINE_MS = 120_000;
/** A wait of `until` ends first. */
const LEAST_DEADLINE_MS = 6_000;
const DEADLINE_FACTOR = 10;
/** Stryker's `TestStatus`. */
const STATUS = { success: 0, failed: 1, skipped: 2 };

/** Read and written by the changed code. */
interface State {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: unknown;
}

interface MutantRun {
  readonly activeMutant: { readonly id: string };
  /** `static` if the change acts while modules load. */
  readonly mutantActivation: "runtime" | "static";
  /** The tests that reach the change; all of them if undefined. */
  readonly testFilter?: readonly string[];
  readonly hitLimit?: number;
}

const state: State = {};
Object.assign(globalThis, { __stryker__: state });

class OneProcess {
  static readonly inject = ["logger"] as const;
  readonly #log: { warn(message: string): void };
  #loads = 0;

  constructor(log: { warn(message: string): void }) {
    this.#log = log;
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  init(): void {
    process.env["TMPDIR"] = mkdtempSync(join(tmpdir(), "m-")); // a change may empty this one, and not that of other processes
    catchCrashes();
  }

  /** Runs all tests without a change. Those that fail are left out from then on. */
  async dryRun() {
    const durations: Record<string, number> = {};
    const results = [];
    const tests = await this.#load();
    for (const test of tests) {
      state.currentTestId = test.id;
      const startedAt = performance.now();
      const error = await runTest(test, UNCHANGED_DEADLINE_MS);
      const timeSpentMs = performance.now() - startedAt;
      state.currentTestId = undefined;
      if (error)
        this.#log.warn(`left out, because it fails without a change: ${test.id}: ${error.message}`);
      else durations[test.id] = timeSpentMs;
      const status = error ? STATUS.skipped : STATUS.success;
      results.push({ id: test.id, name: test.id, timeSpentMs, status });
    }
    await cleanUp(tests);
    writeFileSync(DURATIONS, JSON.stringify(durations));
    return { status: "complete", tests: results, mutantCoverage: state.mutantCoverage };
  }

  async mutantRun({ activeMutant, mutantActivation, testFilter, hitLimit }: MutantRun) {
    // Stryker repeats the call in a new process.
    if (this.#isUsedUp()) throw new Error("this process is used up");
    state.hitLimit = hitLimit;
    state.hitCount = hitLimit === undefined ? undefined : 0;
    const isStatic = mutantActivation === "static";
    try {
      const tests = await this.#load(isStatic ? activeMutant.id : undefined);
      state.activeMutant = activeMutant.id;
      return await this.#runUntilOneFails(chooseTests(tests, testFilter));
    } catch (error) {
      if (!isStatic) throw error;
      return noticed("the code does not load", error);
    } finally {
      state.activeMutant = undefined;
    }
  }

  async #runUntilOneFails(tests: readonly ChosenTest[]) {
    let failed;
    for (const { test, deadlineMs } of tests) {
      const error = await runTest(test, deadlineMs);
      if (error instanceof DeadlineError) this.#loads = MAX_LOADS; // it may run on
      if (error) failed = noticed(test.id, error);
      if (failed) break;
    }
    await cleanUp(tests.map(({ test }) => test));
    const { hitCount = 0, hitLimit = Infinity } = state;
    if (hitCount > hitLimit) return { status: "timeout", reason: "the code runs too often" };
    return failed ?? { status: "survived", nrOfTests: tests.length };
  }

  async #load(activeMutant?: string): Promise<RegisteredTest[]> {
    state.activeMutant = activeMutant;
    takeTests();
    await import(`${pathToFileURL(resolve(BUNDLE)).href}?${this.#loads++}`);
    return takeTests();
  }

  /** A page and its elements can be made once in a process. */
  #isUsedUp(): boolean {
    return this.#loads >= MAX_LOADS || (this.#loads > 0 && "document" in globalThis);
  }
}

export const strykerPlugins = [
  { kind: "TestRunner", name: "one-process", injectableClass: OneProcess },
];

interface ChosenTest {
  readonly test: RegisteredTest;
  readonly deadlineMs: number;
}

/** Those of the filter that pass without a change. */
function chooseTests(tests: readonly RegisteredTest[], filter?: readonly string[]): ChosenTest[] {
  const durations = JSON.parse(readFileSync(DURATIONS, "utf8")) as Record<string, number>;
  const ids = filter && new Set(filter);
  return tests.flatMap((test) => {
    const ms = durations[test.id];
    if (ms === undefined || ids?.has(test.id) === false) return [];
    return [{ test, deadlineMs: LEAST_DEADLINE_MS + DEADLINE_FACTOR * ms }];
  });
}

/** Runs the `after` of the files. */
async function cleanUp(tests: readonly RegisteredTest[]): Promise<void> {
  const hooks = new Set(tests.map((test) => test.hooks));
  for (const { after } of hooks) {
    const work: Work = async (t) => {
      for (const each of after) await each(t);
    };
    await runTest({ id: "after", work, hooks: { beforeEach: [], after: [] } }, LEAST_DEADLINE_MS);
  }
}

function noticed(by: string, error: unknown) {
  return { status: "killed", killedBy: [by], failureMessage: String(error), nrOfTests: 1 };
}

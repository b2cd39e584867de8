import type { Durations } from "./durations.ts";
import type { TestEnded } from "./records.ts";
import { type FileResult, hasFailed } from "./run-files.ts";

const SLOWEST = 10;
const COUNTS = ["pass", "fail", "skip"] as const;
const SIGNS = { pass: "✔", fail: "✖", skip: "﹣" };

/** Prints each file when it has ended, and at the end the failures again, the totals and the slowest files. */
export class Report {
  readonly #isVerbose: boolean;
  readonly #seed: string | undefined;
  readonly #startedAt = performance.now();
  readonly #counts = { pass: 0, fail: 0, skip: 0 };
  readonly #failures: string[] = [];
  readonly #unsteady: string[] = [];
  readonly #durations: Durations = {};

  /**
   * @param isVerbose true to print the tests that passed
   * @param seed of a random order
   */
  constructor({
    isVerbose,
    seed,
  }: {
    readonly isVerbose: boolean;
    readonly seed?: string | undefined;
  }) {
    this.#isVerbose = isVerbose;
    this.#seed = seed;
  }

  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  add(result: FileResult): void {
    const { file, ms, tests, output, fault } = result;
    const known = this.#failures.length;
    console.log(`${hasFailed(result) ? SIGNS.fail : SIGNS.pass} ${file} (${seconds(ms)})`);
    for (const each of tests) this.#addTest(file, each);
    if (fault !== undefined) this.#fail(`${file}: ${fault}`);
    else if (tests.every(({ isSuite }) => isSuite)) this.#fail(`${file}: none of its tests ran`);
    if (output && (this.#isVerbose || this.#failures.length > known)) console.log(output.trimEnd());
    this.#durations[file] = ms;
  }

  /** A file that cannot run here counts as one skipped test. */
  addSkipped(file: string, reason: string): void {
    this.#counts.skip += 1;
    console.log(`${SIGNS.skip} ${file}: ${reason}`);
  }

  /** Prints why a file runs once more. */
  announceRepeated({ file, tests, fault, output }: FileResult): void {
    const reasons = tests.flatMap(({ path, error }) =>
      error === undefined ? [] : [`${path.join(" > ")}\n${error}`],
    );
    if (fault !== undefined) reasons.push(fault);
    const story = `${file}\n${reasons.join("\n")}\n${output.trimEnd()}`;
    console.log(`\nrepeated alone, because it failed beside other tests: ${story}`);
  }

  /** Adds the second result of a file. */
  addRepeated(second: FileResult): void {
    if (!hasFailed(second)) this.#unsteady.push(second.file);
    this.add(second);
  }

  finish(load: number): void {
    for (const file of this.#unsteady) {
      console.log(`\nunsteady: ${file} failed beside other tests and passed alone`);
    }
    if (this.hasFailed) console.log(`\nfailed:\n\n${this.#failures.join("\n\n")}`);
    const slowest = Object.entries(this.#durations)
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, SLOWEST);
    console.log("\nslowest files:");
    for (const [file, ms] of slowest) console.log(`${seconds(ms).padStart(8)}  ${file}`);
    const total = COUNTS.reduce((sum, kind) => sum + this.#counts[kind], 0);
    console.log(`\nload ${load}: waits are so many times as long`);
    if (this.#seed !== undefined) console.log(`order: TEST_ORDER=${this.#seed} repeats it`);
    console.log(`tests ${total}`);
    for (const kind of COUNTS) console.log(`${kind} ${this.#counts[kind]}`);
    console.log(`took ${seconds(performance.now() - this.#startedAt)}`);
  }

  #addTest(file: string, { path, isSuite, skipped, error, line }: TestEnded): void {
    const kind = error !== undefined ? "fail" : skipped === undefined ? "pass" : "skip";
    if (!isSuite) this.#counts[kind] += 1;
    const names = path.slice(1);
    const reason = skipped === undefined || skipped === "true" ? "" : `: ${skipped}`;
    if (kind === "skip" || (this.#isVerbose && names.length > 0)) {
      console.log(`${"  ".repeat(names.length)}${SIGNS[kind]} ${names.at(-1)}${reason}`);
    }
    if (error !== undefined) this.#fail(`${file}:${line ?? 1} ${names.join(" > ")}\n${error}`);
  }

  #fail(text: string): void {
    this.#failures.push(`${SIGNS.fail} ${text}`);
    console.log(`${SIGNS.fail} ${text}`);
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

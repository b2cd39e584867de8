import type { Durations } from "./durations.ts";
import type { TestEnded } from "./records.ts";
import { hasFailed, type Outcome } from "./run-files.ts";

const SLOWEST = 10;
const COUNTS = ["pass", "fail", "skip"] as const;
const SIGNS = { pass: "✔", fail: "✖", skip: "﹣" };

/** Prints each file when it has ended, and at the end the failures again, the totals and the slowest files. */
export class Report {
  readonly #isVerbose: boolean;
  readonly #startedAt = performance.now();
  readonly #counts = { pass: 0, fail: 0, skip: 0 };
  readonly #failures: string[] = [];
  readonly #unsteady: string[] = [];
  readonly #durations: Durations = {};

  /** @param isVerbose true to print the tests that passed */
  constructor({ isVerbose }: { readonly isVerbose: boolean }) {
    this.#isVerbose = isVerbose;
  }

  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  /** Prints what ran in one process, and returns how long its files took. */
  add({ files, ms, tests, output, fault }: Outcome): Durations {
    const durations: Durations = {};
    const known = this.#failures.length;
    for (const file of files) {
      const own = files.length === 1 ? tests : tests.filter(({ path }) => path[0] === file);
      const whole = own.find(({ path, isSuite }) => isSuite && path.length === 1)?.ms;
      durations[file] = files.length === 1 ? ms : (whole ?? 0);
      this.#printFile(file, own, durations[file]);
      const hasTests = own.some(({ isSuite }) => !isSuite);
      if (!hasTests && fault === undefined) this.#fail(`${file}: none of its tests ran`);
    }
    if (fault !== undefined) this.#fail(`${files.join(", ")}: ${fault}`);
    if (output && (this.#isVerbose || this.#failures.length > known)) console.log(output.trimEnd());
    Object.assign(this.#durations, durations);
    return durations;
  }

  /** Adds the second result of files that failed in the first, and says why they did. */
  addRepeated(first: Outcome, second: Outcome): void {
    const reasons = first.tests.flatMap(({ path, error }) =>
      error === undefined ? [] : [`${path.join(" > ")}\n${error}`],
    );
    if (first.fault !== undefined) reasons.push(first.fault);
    const story = `${first.files.join(", ")}\n${reasons.join("\n")}\n${first.output.trimEnd()}`;
    console.log(`\nrepeated alone, because it failed beside other tests: ${story}`);
    if (!hasFailed(second)) this.#unsteady.push(...first.files);
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
    console.log(`\nload ${load}: waits are so many times as long\ntests ${total}`);
    for (const kind of COUNTS) console.log(`${kind} ${this.#counts[kind]}`);
    console.log(`took ${seconds(performance.now() - this.#startedAt)}`);
  }

  #printFile(file: string, tests: readonly TestEnded[], ms: number): void {
    const isFailed = tests.some(({ error }) => error !== undefined);
    console.log(`${isFailed ? SIGNS.fail : SIGNS.pass} ${file} (${seconds(ms)})`);
    for (const each of tests) this.#printTest(file, each);
  }

  #printTest(file: string, { path, isSuite, skipped, error, line }: TestEnded): void {
    const kind = error !== undefined ? "fail" : skipped === undefined ? "pass" : "skip";
    if (!isSuite) this.#counts[kind] += 1;
    const names = path[0] === file ? path.slice(1) : path;
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

/** One event of a test process. */
export type TestRecord =
  /** The file of all that is printed from now on. The process writes it itself, as the reports of its runner may be late. */
  | { readonly kind: "file"; readonly name: string }
  | { readonly kind: "started"; readonly name: string }
  | { readonly kind: "said"; readonly message: string }
  | TestEnded;

export interface TestEnded {
  readonly kind: "ended";
  /** The test file, the names of the suites and tests around it, then its own. */
  readonly path: readonly string[];
  readonly isSuite: boolean;
  readonly ms: number;
  /** The reason, or `true` without one. */
  readonly skipped?: string;
  readonly error?: string;
  readonly line?: number;
}

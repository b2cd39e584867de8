/** One event of a test process. */
export type TestRecord =
  | {
      readonly kind: "started";
      readonly name: string;
      /** True for the suite of a test file. */
      readonly isFile: boolean;
    }
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

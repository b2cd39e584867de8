import { mock } from "node:test";

export type Work = (t: Context) => unknown;

const MockTracker = mock.constructor as new () => typeof mock;

/** The arguments of `test`, of which the name and the options can be missing. */
export function readArguments(args: readonly unknown[]) {
  const work = args.find((each): each is Work => typeof each === "function") ?? (() => undefined);
  const name = args.find((each) => typeof each === "string") ?? work.name;
  const options = args.find((each) => typeof each === "object" && each !== null);
  const isSkipped = Boolean(options && "skip" in options && options.skip);
  return { name, work, isSkipped };
}

/** A test's `t`. Unlike Node's, `t.test` rejects when its part of the test fails. */
export class Context {
  readonly name: string;
  readonly mock = new MockTracker();
  readonly #ended = new AbortController();
  readonly #after: Work[] = [];
  readonly #parts: Context[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  after(work: Work): void {
    this.#after.push(work);
  }

  diagnostic(): void {}

  skip(): void {}

  async test(...args: readonly unknown[]): Promise<void> {
    const { name, work, isSkipped } = readArguments(args);
    if (isSkipped) return;
    const part = new Context(name);
    this.#parts.push(part);
    try {
      await work(part);
    } finally {
      await part.end();
    }
  }

  /** Runs what the test asked for with `after`. */
  async end(): Promise<void> {
    try {
      for (const work of this.#after) await work(this);
    } finally {
      this.restore();
    }
  }

  /** Restores what the test and its parts mock, also when they hang. */
  restore(): void {
    for (const part of this.#parts) part.restore();
    this.mock.reset();
    this.#ended.abort();
  }
}

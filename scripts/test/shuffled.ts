// In the place of node:test when the order of tests is random: the tests of a file, and the subtests of a test, run in the
// order of the seed. Subtests run when the test's own function has ended.

import { test as nodeTest, type TestContext } from "node:test";
import { SEED, shuffle } from "./order.ts";

export { after, afterEach, before, beforeEach, describe, mock } from "node:test";

type Arguments = Parameters<typeof nodeTest>;
type Register = (...args: Arguments) => Promise<void>;

let collected: Arguments[] = [];

/** Collects a test of the file that is being loaded. */
export const test: Register = (...args) => {
  collected.push(args);
  return Promise.resolve();
};

/** Registers what the file has collected. */
export function registerCollected(): void {
  const all = collected;
  collected = [];
  for (const args of inOrder(all)) void nodeTest(...withSubtests(args));
}

/** Lets the test collect its subtests, which run behind it. */
function withSubtests(args: Arguments): Arguments {
  return args.map((each) =>
    typeof each === "function" ? wrap(each as (t: TestContext) => unknown) : each,
  ) as Arguments;
}

function wrap(work: (t: TestContext) => unknown) {
  return async (t: TestContext) => {
    const parts: Arguments[] = [];
    const register = t.test.bind(t) as Register;
    const collect: Register = (...args) => {
      parts.push(args);
      return Promise.resolve();
    };
    Object.defineProperty(t, "test", { value: collect });
    await work(t);
    for (const args of inOrder(parts)) await register(...withSubtests(args));
  };
}

function inOrder(all: readonly Arguments[]): readonly Arguments[] {
  return shuffle(all, ([name]) => String(name), SEED ?? "");
}

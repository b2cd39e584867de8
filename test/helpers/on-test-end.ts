import type { TestContext } from "node:test";

const endings = new WeakMap<TestContext, (() => Promise<void>)[]>();

/**
 * Does `work` when the test ends, what was asked for last first, so that a folder goes after what
 * watches it. `t.after` goes the other way.
 */
export function onTestEnd(t: TestContext, work: () => Promise<void>): void {
  const known = endings.get(t);
  if (known) {
    known.push(work);
    return;
  }
  const all = [work];
  endings.set(t, all);
  t.after(async () => {
    for (const each of all.toReversed()) await each();
  });
}

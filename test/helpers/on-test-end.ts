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
    const errors: unknown[] = [];
    for (const each of all.toReversed()) {
      await each().catch((error: unknown) => errors.push(error)); // a host that is not stopped would keep this process running
    }
    if (errors.length > 0) throw errors[0];
  });
}

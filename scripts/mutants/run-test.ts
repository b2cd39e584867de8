import { AsyncLocalStorage } from "node:async_hooks";
import { Context } from "./context.ts";
import type { RegisteredTest } from "./node-test.ts";

/** Node's timers, also while a test mocks them. */
const { clearTimeout, setImmediate, setTimeout } = globalThis;

type Fail = (error: unknown) => void;

/** Tells which test an exception comes from, because what a failed test has started may still run in later ones. */
const owner = new AsyncLocalStorage<Fail>();
let failLast: Fail = () => undefined;

export class DeadlineError extends Error {}

/** Uncaught exceptions and unhandled rejections fail the test that they come from, and no longer end the process. */
export function catchCrashes(): void {
  const onCrash = (error: unknown) => (owner.getStore() ?? failLast)(error);
  process.on("uncaughtException", onCrash).on("unhandledRejection", onCrash);
}

/** Runs a test, and gives the error that it failed with. */
export async function runTest(
  { id, work, hooks }: RegisteredTest,
  deadlineMs: number,
): Promise<Error | undefined> {
  const t = new Context(id);
  let failure: Error | undefined;
  let stopWaiting = () => {};
  const fail: Fail = (error) => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    stopWaiting();
  };
  const attempt = async (run: () => Promise<void>): Promise<void> => {
    const stopped = new Promise<void>((resolve) => (stopWaiting = resolve));
    const late = new DeadlineError(`"${id}" takes more than ${deadlineMs} ms`);
    const timer = setTimeout(fail, deadlineMs, late);
    await Promise.race([run().catch(fail), stopped]);
    clearTimeout(timer);
  };
  failLast = fail;
  await owner.run(fail, async () => {
    await attempt(async () => {
      for (const each of hooks.beforeEach) await each(t);
      await work(t);
      await unhandledRejections();
    });
    await attempt(() => t.end());
  });
  t.restore();
  return failure;
}

/** Resolves when Node has reported the rejections that nothing handles. */
function unhandledRejections(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

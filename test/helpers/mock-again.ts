import type { TestContext } from "node:test";

/**
 * Mocks a method that this test may have mocked before. Node restores mocks from the first to the last, so the second
 * one alone would leave the first in place when the test ends, for all tests after it.
 */
export function mockAgain<T extends object, K extends keyof T & string>(
  t: TestContext,
  object: T,
  name: K,
  run: T[K] & ((...args: never[]) => unknown),
): void {
  (object[name] as { readonly mock?: { restore(): void } }).mock?.restore();
  t.mock.method(object as Record<string, typeof run>, name, run);
}

import { syncBuiltinESMExports } from "node:module";
import type { TestContext } from "node:test";
import { onTestEnd } from "./on-test-end.ts";

/**
 * Lets code that imported functions of Node's modules by name see what the test has put in their place until now, and
 * the functions themselves again after `restore` at the end of the test.
 */
export function showToImports(t: TestContext, restore: () => void): void {
  syncBuiltinESMExports();
  onTestEnd(t, async () => {
    restore();
    t.mock.timers.reset(); // otherwise the imports would keep the mocked timers for all tests after this one
    syncBuiltinESMExports();
  });
}

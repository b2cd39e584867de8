// Loads Node's test runner such that it follows promises only when it must: that takes a fifth of the CPU time of the
// tests.

import asyncHooks, { type AsyncHook } from "node:async_hooks";

let hook: AsyncHook | undefined;

const { createHook } = asyncHooks;
// Without `destroy`, which costs most: the runner only frees memory in it.
asyncHooks.createHook = (callbacks) =>
  (hook = createHook(Object.fromEntries(Object.entries(callbacks).filter(isNeeded))));
await import("node:test");
asyncHooks.createHook = createHook;

/**
 * Makes the runner follow promises, or stop that. It has to follow them while tests are registered, because it finds by
 * them which suite a test belongs to; later it would find by them only the test of an error that nobody catches.
 */
export function followPromises(isFollowing: boolean): void {
  if (isFollowing) hook?.enable();
  else hook?.disable();
}

function isNeeded([name]: readonly [string, unknown]): boolean {
  return name !== "destroy";
}

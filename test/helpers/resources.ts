import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { loadNow } from "./until.ts";

const SETTLE_MS = 1_000;
const POLL_MS = 20;

/** Notes what is open in this process; the function it returns fails if more is open a second later. */
export function watchResources(): () => Promise<void> {
  const before = openResources();
  return async () => {
    let left = openedSince(before);
    const settleMs = SETTLE_MS * loadNow();
    for (let waitedMs = 0; waitedMs < settleMs && left.length > 0; waitedMs += POLL_MS) {
      await delay(POLL_MS);
      left = openedSince(before);
    }
    assert.deepEqual(left, [], "processes, sockets or timers were left open");
  };
}

const openResources = (): readonly string[] => process.getActiveResourcesInfo();

/** The resources that are open now and not in `before`, each kind once for each additional one. */
function openedSince(before: readonly string[]): string[] {
  const known = [...before];
  return openResources().filter((resource) => {
    const at = known.indexOf(resource);
    if (at === -1) return true;
    known.splice(at, 1);
    return false;
  });
}

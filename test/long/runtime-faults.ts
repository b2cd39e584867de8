import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS, idOf } from "../../scripts/faults/kinds.ts";
import { startFaultyModules, share } from "./faulty-modules.ts";

const PARTS = 3;
/** Faults at the same time, so that the tests take bearable time. */
const AT_ONCE = 3;

/** One of the test files over all faults at work. */
export function testRuntimeFaults(part: number): void {
  const kinds = share(FAULTS, part, PARTS);
  test(
    "a module with a fault at run time is ended, reported and restarted",
    { concurrency: AT_ONCE },
    async (t) => {
      const { harm, once, send, causeOfFall, assertGoodWorks } = await startFaultyModules(
        t,
        kinds,
        "call",
      );

      const tests = kinds.map((kind) =>
        t.test(kind.name, async () => {
          const id = idOf(kind);

          await harm(kind);
          await once(id, ({ restarts }) => restarts === 1, 30_000);

          assert.match(causeOfFall(id), kind.cause);
          await once(id, ({ state }) => state === "active", 30_000);
          await send(id, { on: true });
          await assertGoodWorks();
        }),
      );
      await Promise.all(tests);
      t.diagnostic(`${kinds.length} kinds of fault`);
    },
  );
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { idOf, START_FAULTS } from "../../scripts/faults/kinds.ts";
import { startFaultyModules } from "./faulty-modules.ts";

test("a module with a fault at its start fails with the cause, and others start", async (t) => {
  const { registry, assertGoodWorks } = await startFaultyModules(t, START_FAULTS, "start");

  for (const kind of START_FAULTS) {
    const { state, error } = registry.get(idOf(kind));
    assert.equal(state, "failed", `${kind.name}: ${error?.message}`);
    assert.match(`${kind.name}: ${error?.message}`, kind.cause);
  }
  await assertGoodWorks();
});

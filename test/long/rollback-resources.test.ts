import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { packageJson, startModules } from "../helpers/module.ts";

const SETS = 2;
const ROUNDS = 6;
const COUNTS = 2;
const COUNT_MS = 100;
const SOUND = `
import { definePlugin } from "@mantel/plugin-sdk";
export default definePlugin({ start: () => ({}) });
`;
const throwing = (round: number): string =>
  SOUND.replace("({})", `{ throw new Error("round ${round}"); }`);

test("rollbacks leave no resources in the host while the old process continues", async (t) => {
  const { registry, write } = await startModules(t, {
    patient: { "package.json": packageJson("patient"), "index.ts": SOUND },
  });
  const fail = async (round: number): Promise<void> => {
    await write("patient/index.ts", throwing(round));
    await assert.rejects(registry.reload("patient"), { code: "reload_failed" });
  };
  for (let round = 0; round < 2; round++) await fail(round);
  const growths: number[] = [];
  for (let set = 0, before = await countFunctions(); set < SETS; set++) {
    for (let round = 0; round < ROUNDS; round++) await fail(round);
    const now = await countFunctions();
    growths.push(now - before);
    before = now;
  }

  // A leak grows each time; a warm process that is there only at the second count does not.
  assert.ok(Math.min(...growths) < ROUNDS / 2, growths.join(", "));
});

/**
 * Each listener that is left behind holds on to a function. The lowest of several counts: timers and
 * the start of a warm process come and go.
 */
async function countFunctions(): Promise<number> {
  const counts: number[] = [];
  for (let left = COUNTS; left > 0; left--) {
    counts.push(queryObjects(Function, { format: "count" }));
    await delay(COUNT_MS);
  }
  return Math.min(...counts);
}

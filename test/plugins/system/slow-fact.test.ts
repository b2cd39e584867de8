import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { SlowFact } from "../../../plugins/system/slow-fact.ts";

/** A fact whose readings are answered by hand, and what it logs. */
function openFact(everyMs: number) {
  const readings: { answer(value: number): void; fail(error: Error): void }[] = [];
  const warnings: string[] = [];
  const quiet = () => undefined;
  const fact = new SlowFact({
    name: "disks",
    everyMs,
    before: 0,
    read: () =>
      new Promise<number>((answer, fail) => {
        readings.push({ answer, fail });
      }),
    log: { debug: quiet, info: quiet, error: quiet, warn: (text) => void warnings.push(text) },
  });
  return { fact, readings, warnings };
}

test("the first read is due at once, and its value is available when it ends", async () => {
  const { fact, readings } = openFact(1_000);
  assert.equal(readings.length, 0);

  fact.refresh();
  assert.equal(fact.value, 0);
  readings[0]?.answer(7);
  await turn();

  assert.equal(fact.value, 7);
});

test("a value is not read before it is due", async () => {
  const { fact, readings } = openFact(60_000);
  fact.refresh();
  readings[0]?.answer(7);
  await turn();

  fact.refresh();

  assert.equal(readings.length, 1);
});

test("no second read starts while one hangs", () => {
  const { fact, readings } = openFact(0);

  fact.refresh();
  fact.refresh();

  assert.equal(readings.length, 1);
});

test("a reading that fails keeps the last value and is logged once", async () => {
  const { fact, readings, warnings } = openFact(0);
  fact.refresh();
  readings[0]?.answer(7);
  await turn();
  for (const at of [1, 2]) {
    fact.refresh();
    readings[at]?.fail(new Error("df is missing"));
    await turn();
  }

  assert.equal(fact.value, 7);
  assert.deepEqual(warnings, ["a value cannot be read"]);
});

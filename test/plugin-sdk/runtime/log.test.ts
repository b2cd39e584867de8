import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createLog } from "../../../plugin-sdk/runtime/log.ts";

/** A log, the records that reached the host, and a clock. */
function open(t: TestContext) {
  let nowMs = 5_000;
  t.mock.method(performance, "now", () => nowMs);
  const records: unknown[] = [];
  const notify = (method: string, record: unknown) => {
    assert.equal(method, "log");
    records.push(record);
  };
  const log = createLog({ notify, call: assert.fail });
  return { log, records, wait: (ms: number) => void (nowMs += ms) };
}

test("a record has its level, its sentence and its fields", (t) => {
  const { log, records } = open(t);
  for (const level of ["debug", "info", "warn", "error"] as const)
    log[level]("a sentence", { level });
  log.info("no fields");

  assert.deepEqual(records, [
    ...["debug", "info", "warn", "error"].map((level) => ({
      level,
      sentence: "a sentence",
      fields: { level },
    })),
    { level: "info", sentence: "no fields" },
  ]);
});

test("more than 500 records in a second are dropped, and the next record counts them once", (t) => {
  const { log, records, wait } = open(t);
  for (let at = 0; at < 503; at++) log.info("busy");
  wait(999);
  log.info("still the same second");
  assert.equal(records.length, 500);

  wait(1);
  log.info("later");
  log.info("last");

  assert.deepEqual(records.slice(500), [
    { level: "info", sentence: "later", dropped: 4 },
    { level: "info", sentence: "last" },
  ]);
});

test("each second has 500 records", (t) => {
  const { log, records, wait } = open(t);
  for (let second = 0; second < 3; second++) {
    for (let at = 0; at < 500; at++) log.info("busy");
    wait(1_000);
  }

  assert.equal(records.length, 1_500);
});

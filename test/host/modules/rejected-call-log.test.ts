import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { openLog } from "../../../host/log.ts";
import { RejectedCallLog } from "../../../host/modules/calls/rejected-call-log.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";

test("different faults are distinguished, and very many are counted together", () => {
  const log = new ModuleLog({ ...openLog("error", false), warn: () => undefined });
  const refusals = new RejectedCallLog(log);
  const names = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));

  for (let round = 0; round < 100; round++) {
    for (const name of names) refusals.add("an update was refused", new Error(`${name} is wrong`));
  }

  const counts = log.entries.map(({ fields }) => Number(fields?.["count"]));
  assert.equal(counts.filter((count) => count === 1).length, 21);
  assert.ok(log.entries.length <= 21 * 3, `${log.entries.length}`);
});

test("faults that differ only in numbers are counted as one", () => {
  const log = new ModuleLog({ ...openLog("error", false), warn: () => undefined });
  const refusals = new RejectedCallLog(log);

  for (let n = 0; n < 9; n++)
    refusals.add("an update was refused", new Error(`/${n}/state is wrong`));

  assert.deepEqual(
    log.entries.map(({ fields }) => fields),
    [{ count: 1, error: "/0/state is wrong" }],
  );
});

test("a repeated fault is logged the first time and at every power of ten", () => {
  const log = new ModuleLog({ ...openLog("error", false), warn: () => undefined });
  const refusals = new RejectedCallLog(log);

  for (let n = 0; n < 150; n++) refusals.add("an update was refused", "what");

  assert.deepEqual(
    log.entries.map(({ level, sentence, fields }) => [level, sentence, fields]),
    [1, 10, 100].map((count) => ["warn", "an update was refused", { count, error: "what" }]),
  );
});

test("numbers of different lengths are the same fault", () => {
  const log = new ModuleLog({ ...openLog("error", false), warn: () => undefined });
  const refusals = new RejectedCallLog(log);

  for (const n of [9, 10, 100]) refusals.add("an update was refused", `/${n}/state is wrong`);

  assert.equal(log.entries.length, 1);
});

test("a record shows the first five faults of an invalid value", () => {
  const log = new ModuleLog({ ...openLog("error", false), warn: () => undefined });
  const errors = [1, 2, 3, 4, 5, 6].map((index) => ({ pointer: `/${index}`, detail: "is wrong" }));

  const refused = new MantelError("invalid", "the update is wrong", { errors });
  new RejectedCallLog(log).add("an update was refused", refused);

  assert.deepEqual(log.entries[0]?.fields?.["errors"], errors.slice(0, 5));
});

test("the same fault of another kind of call is counted on its own", () => {
  const log = new ModuleLog({ ...openLog("error", false), warn: () => undefined });
  const refusals = new RejectedCallLog(log);

  refusals.add("an update was refused", new Error("what"));
  refusals.add("an event was refused", new Error("what"));

  assert.equal(log.entries.length, 2);
});

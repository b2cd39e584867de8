import assert from "node:assert/strict";
import { test } from "node:test";
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

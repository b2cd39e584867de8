import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { LastReload } from "../../../host/api/module.ts";
import {
  type HandoverResult,
  ReloadRecord,
  type ReloadTrigger,
} from "../../../host/modules/state/reload-result.ts";
import type { ModuleStatus } from "../../../host/modules/state/status.ts";

const SWAP: HandoverResult = {
  downtimeMs: 12.345,
  drained: 2,
  stateHandedOver: true,
  memory: { beforeBytes: 1, afterBytes: 2 },
  leftOpen: [{ kind: "timer", count: 1 }] as never,
};

/** A reload of a module in its third generation; each asked time is 5.06 ms later. */
function openRecord(t: TestContext, trigger: ReloadTrigger = "file", isWorking = true) {
  let now = 0;
  t.mock.method(performance, "now", () => (now += 5.06));
  const noted: Omit<LastReload, "at">[] = [];
  const status = {
    view: { generation: 3 },
    isWorking,
    reloaded: (outcome: Omit<LastReload, "at">) => noted.push(outcome),
  };
  const record = new ReloadRecord(status as unknown as ModuleStatus, trigger);
  return { record, noted, status };
}

test("a reload that replaced the process is returned and noted with its times and leaks", (t) => {
  const { record, noted, status } = openRecord(t);
  status.view.generation = 4;

  const result = record.reloaded(SWAP);

  const measured = {
    result: "reloaded",
    durationMs: 5.1,
    downtimeMs: 12.3,
    stateHandedOver: true,
    memory: SWAP.memory,
    leftOpen: SWAP.leftOpen,
  };
  assert.deepEqual(result, { ...measured, from: 3, to: 4, drained: 2 });
  assert.deepEqual(noted, [{ ...measured, trigger: "file" }]);
});

test("a reload without a process says nothing about a handover", (t) => {
  const { record, noted } = openRecord(t, "request");

  const result = record.reloaded();

  const timed = { result: "reloaded", durationMs: 5.1, downtimeMs: 0 };
  assert.deepEqual(result, { ...timed, from: 3, to: 3, drained: 0, stateHandedOver: false });
  assert.deepEqual(noted, [{ ...timed, trigger: "request" }]);
});

test("a requested rollback is recorded as rolled_back, and unchanged code as unchanged", (t) => {
  const { record, noted } = openRecord(t);

  assert.equal(record.rolledBack(SWAP).result, "rolled_back");
  assert.equal(record.unchanged(true).result, "unchanged");

  assert.deepEqual(
    noted.map(({ result }) => result),
    ["rolled_back", "unchanged"],
  );
});

test("an unchanged result can be returned without being stored in the status", (t) => {
  const { record, noted } = openRecord(t);

  assert.equal(record.unchanged(false).result, "unchanged");

  assert.deepEqual(noted, []);
});

const FAILURES: readonly (readonly [
  trigger: ReloadTrigger,
  isWorking: boolean,
  result: LastReload["result"],
])[] = [
  ["file", true, "rolled_back"],
  ["file", false, "failed"],
  ["rollback", true, "failed"],
];

for (const [trigger, isWorking, result] of FAILURES) {
  const which = isWorking ? "a module that works" : "a module that does not work";
  test(`a failed reload by ${trigger} of ${which} is noted as ${result}`, (t) => {
    const { record, noted } = openRecord(t, trigger, isWorking);
    const location = { file: "index.ts", line: 3, column: 1, frame: "" };
    const cause = new MantelError("invalid", "what", { location });

    const error = record.failed(cause, 12.345);

    assert.deepEqual([error.code, error.message, error.cause], ["reload_failed", "what", cause]);
    assert.deepEqual(error.extras, { location, rolledBack: isWorking });
    assert.deepEqual(noted, [
      {
        trigger,
        result,
        durationMs: 5.1,
        downtimeMs: 12.3,
        error: { message: "what", ...location },
      },
    ]);
  });
}

test("a fault that is not expected fails a reload with its text", (t) => {
  const { record } = openRecord(t);

  const { message, extras } = record.failed(new TypeError("what"));

  assert.equal(message, "TypeError: what");
  assert.deepEqual(extras, { rolledBack: true });
});

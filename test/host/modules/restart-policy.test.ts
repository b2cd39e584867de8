import assert from "node:assert/strict";
import { test } from "node:test";
import { RestartPolicy } from "../../../host/modules/lifecycle/restart-policy.ts";

const MINUTE_MS = 60_000;

test("the wait doubles from a second, with a fifth of jitter", () => {
  const supervisor = new RestartPolicy();

  const waits = [0, 1, 2, 3].map((at) => supervisor.crashed(at) ?? Number.NaN);

  for (const [index, wait] of waits.entries()) {
    const middle = 1_000 * 2 ** index;
    assert.ok(wait >= middle * 0.8 && wait <= middle * 1.2, `${wait} is not near ${middle}`);
  }
});

test("the fifth crash within ten minutes causes quarantine", () => {
  const supervisor = new RestartPolicy();

  const outcomes = [0, 1, 2, 3, 9].map((minute) => supervisor.crashed(minute * MINUTE_MS));

  assert.equal(outcomes.at(-1), undefined);
  assert.ok(outcomes.slice(0, 4).every((wait) => wait !== undefined));
});

test("crashes older than ten minutes do not count, and the restart delay is short again", () => {
  const supervisor = new RestartPolicy();
  for (const minute of [0, 1, 2, 3]) supervisor.crashed(minute * MINUTE_MS);

  const wait = supervisor.crashed(30 * MINUTE_MS);

  assert.ok(wait !== undefined && wait <= 1_200);
});

test("a reload resets the crash history", () => {
  const supervisor = new RestartPolicy();
  for (let count = 0; count < 4; count++) supervisor.crashed(count);

  supervisor.forgive();

  assert.ok((supervisor.crashed(5) ?? Infinity) <= 1_200);
});

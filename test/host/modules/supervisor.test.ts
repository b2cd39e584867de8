import assert from "node:assert/strict";
import { test } from "node:test";
import { Supervisor } from "../../../host/modules/reload/supervisor.ts";

const MINUTE_MS = 60_000;

test("the wait doubles from a second, with a fifth of jitter", () => {
  const supervisor = new Supervisor();

  const waits = [0, 1, 2, 3].map((at) => supervisor.crashed(at) ?? Number.NaN);

  for (const [index, wait] of waits.entries()) {
    const middle = 1_000 * 2 ** index;
    assert.ok(wait >= middle * 0.8 && wait <= middle * 1.2, `${wait} is not near ${middle}`);
  }
});

test("the fifth crash within ten minutes is quarantine", () => {
  const supervisor = new Supervisor();

  const outcomes = [0, 1, 2, 3, 9].map((minute) => supervisor.crashed(minute * MINUTE_MS));

  assert.equal(outcomes.at(-1), undefined);
  assert.ok(outcomes.slice(0, 4).every((wait) => wait !== undefined));
});

test("crashes longer than ten minutes ago do not count, and the wait is short again", () => {
  const supervisor = new Supervisor();
  for (const minute of [0, 1, 2, 3]) supervisor.crashed(minute * MINUTE_MS);

  const wait = supervisor.crashed(30 * MINUTE_MS);

  assert.ok(wait !== undefined && wait <= 1_200);
});

test("a reload is a new beginning", () => {
  const supervisor = new Supervisor();
  for (let count = 0; count < 4; count++) supervisor.crashed(count);

  supervisor.forgive();

  assert.ok((supervisor.crashed(5) ?? Infinity) <= 1_200);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { inEnglish, MantelError } from "@mantel/plugin-sdk";
import { Poll, pauseMs } from "../../../plugins/calendar/web/poll.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { until } from "../../helpers/until.ts";

const middle = () => 0.5;
const pause = (failures: number, { refreshMs = 900_000, askedForMs = 0, random = middle } = {}) =>
  pauseMs({ refreshMs, failures, askedForMs }, random);

test("after a successful read the next one follows at the normal interval", () => {
  assert.equal(pause(0), 900_000);
});

test("the wait grows with each failure, up to the normal interval", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 60].map((failures) => pause(failures)),
    [30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000],
  );
});

test("a calendar read every minute waits longer while its server fails", () => {
  assert.equal(pause(10, { refreshMs: 60_000 }), 900_000);
});

test("waits differ, so that calendars that failed together do not retry together", () => {
  assert.equal(pause(1, { random: () => 0 }), 24_000);
  assert.equal(pause(1, { random: () => 1 }), 36_000);
});

test("the wait is never shorter than the server requested", () => {
  for (const random of [() => 0, middle, () => 1]) {
    assert.ok(pause(1, { askedForMs: 3_600_000, random }) >= 3_600_000);
  }
});

test("a failure is logged once until it ends, and reported each time", async () => {
  const log = collectedLog();
  const told: string[] = [];
  let fault: Error | undefined = new MantelError("invalid", "the server answered with status 502");
  const poll = new Poll({
    log,
    id: "club",
    refreshMs: 1,
    signal: new AbortController().signal,
    changed: () => {},
    read: () => (fault ? Promise.reject(fault) : Promise.resolve(true)),
    failed: (reason) => told.push(inEnglish(reason)),
  });

  await poll.once();
  await poll.once();
  fault = new Error("a fault of our own: /secret");
  await poll.once();
  fault = undefined;
  await poll.once();

  assert.deepEqual(told, [
    "the server answered with status 502",
    "the server answered with status 502",
    "it cannot be read",
  ]);
  assert.deepEqual(
    log.records.map(({ level }) => level),
    ["warn", "info"],
  );
});

for (const [name, jump] of [
  ["forward", 10 * 365 * 86_400_000],
  ["back", -10 * 365 * 86_400_000],
] as const) {
  test(`a system clock that jumps ${name} does not change waiting times`, async (t) => {
    t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-20T12:00:00Z") });
    const ended = new AbortController();
    const readAt: number[] = [];
    const refreshMs = 200;
    const poll = new Poll({
      log: collectedLog(),
      id: "club",
      refreshMs,
      signal: ended.signal,
      failed: () => {},
      read: async () => readAt.push(performance.now()) > 0,
      changed: () => {},
    });

    const running = poll.run();
    t.mock.timers.setTime(Date.now() + jump);
    await until(() => readAt.length === 2);
    ended.abort();
    await running;

    const [first = 0, second = 0] = readAt;
    assert.ok(second - first >= refreshMs - 1, `${second - first} ms`);
  });
}

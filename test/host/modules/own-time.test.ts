import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { waitedForCpuMs } from "../../../host/modules/process/monitor/threads.ts";
import { ownDeadline, withinOwnTime } from "../../../host/modules/process/own-time.ts";

const start = { what: "start", deadlineMs: 30 };

test("time in which a process waits for a CPU does not count against its deadline", async () => {
  const startedAt = performance.now();
  const waitedMs = () => performance.now() - startedAt; // it never gets one
  const longest: number[] = [];

  const answer = await withinOwnTime({ ...start, waitedMs }, async (longestMs) => {
    longest.push(longestMs);
    await delay(150);
    return "started";
  });

  assert.equal(answer, "started");
  assert.deepEqual(longest, [300]);
});

test("time in which the host waits for a CPU does not count either", () => {
  const waited = new Map([
    [7, 30],
    [process.pid, 400],
  ]);

  const { waitedMs } = ownDeadline("start", { pid: 7 }, 1, (pid) => waited.get(pid) ?? 0);

  assert.equal(waitedMs(), 430);
});

test("the wait of a process counts whose id is known only after the call has begun", () => {
  const generation = { pid: 0 };
  const { waitedMs } = ownDeadline("start", generation, 1, (pid) => (pid === 7 ? 30 : 0));

  generation.pid = 7;

  assert.equal(waitedMs(), 30);
});

test("a process that has its CPU and does not answer is late", async () => {
  const waitedMs = () => 5_000; // before the call
  const never = () => new Promise<never>(() => undefined);

  await assert.rejects(
    withinOwnTime({ ...start, waitedMs }, never),
    new MantelError("deadline_passed", "start timed out after 30 ms"),
  );
});

test("an answer that comes in time is passed on, and so is an error", async () => {
  const waitedMs = () => 0;
  const deadlineMs = 60_000;

  assert.equal(await withinOwnTime({ ...start, deadlineMs, waitedMs }, async () => 7), 7);
  await assert.rejects(
    withinOwnTime({ ...start, deadlineMs, waitedMs }, () => Promise.reject(new Error("boom"))),
    /^Error: boom$/,
  );
});

test("the wait of a running process is read from the system", () => {
  const { waitedMs } = ownDeadline("start", process, 1);

  assert.ok(waitedMs() >= 0);
  assert.equal(waitedForCpuMs(2 ** 30), 0); // no such process
});

import assert from "node:assert/strict";
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { HostProcess, LoopLag } from "../../../host/machine/host-process.ts";
import { until } from "../../helpers/until.ts";

/** The event loop is sampled each 50 ms. */
const TWO_TICKS_MS = 110;

function openProcess(t: TestContext): HostProcess {
  const host = new HostProcess();
  t.after(() => host.close());
  return host;
}

function spin(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

test("a busy process shows its CPU time and the lag of its event loop", async (t) => {
  const host = openProcess(t);
  host.measure();
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  await delay(TWO_TICKS_MS); // the event loop's first tick only starts its clock

  spin(200);
  await delay(TWO_TICKS_MS);

  const { cpuPercent, eventLoopLagP99Ms } = host.measure();
  const { user, system } = process.cpuUsage(before);
  const used = (user + system) / 10 / (performance.now() - startedAt);
  assert.ok(Math.abs(cpuPercent - used) < used / 4, `${cpuPercent} % of ${used} %`);
  assert.ok(eventLoopLagP99Ms > 100, `${eventLoopLagP99Ms} ms`);
});

test("each measurement counts from the one before", async (t) => {
  const host = openProcess(t);
  host.measure();
  await delay(TWO_TICKS_MS);
  spin(1_000);
  await delay(TWO_TICKS_MS);
  const before = host.measure().eventLoopLagP99Ms;

  await until(async () => {
    await delay(200);
    return host.measure().eventLoopLagP99Ms < before / 2;
  });
});

test("the sampling interval of the event loop does not count as lag", async (t) => {
  const lag = new LoopLag();
  t.after(() => lag.close());

  await delay(200);

  await until(() => lag.percentileMs(100) > 0 && lag.percentileMs(1) < 8); // the best of a busy machine
});

test("the event loop is measured for a minute after each question", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const prototype = Object.getPrototypeOf(monitorEventLoopDelay()) as IntervalHistogram;
  const enabled = t.mock.method(prototype, "enable");
  const disabled = t.mock.method(prototype, "disable");
  const open = () => enabled.mock.callCount() - disabled.mock.callCount();
  const host = openProcess(t);
  assert.equal(open(), 0);

  host.measure();
  t.mock.timers.tick(59_999);
  host.measure();
  t.mock.timers.tick(59_999);
  assert.equal(open(), 1);
  t.mock.timers.tick(1);
  assert.equal(open(), 0);

  assert.equal(host.measure().eventLoopLagP99Ms, 0);
  assert.equal(open(), 1);
});

test("measuring twice at once gives numbers", (t) => {
  const host = openProcess(t);
  host.measure();

  const figures = host.measure();

  assert.ok(Object.values(figures).every(Number.isFinite));
});

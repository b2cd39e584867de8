import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { SystemSample } from "@mantel/plugin-sdk";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ApiEvent } from "../../../host/api/events.ts";
import { Bus } from "../../../host/events/bus.ts";
import { Samples, SystemView } from "../../../host/system/samples.ts";
import { faultsOf } from "../../../host/validate.ts";

const SAMPLE: SystemSample = {
  sampledAt: "2026-11-20T18:00:00.000Z",
  cpu: { percent: 12.5, perCore: [5, 20], loadAverage: [0.1, 0.2, 0.3], temperatureC: null },
  memory: { totalBytes: 1_000, usedBytes: 400, availableBytes: 600, percent: 40 },
  temperature: { cpuC: null, sensors: [] },
  uptime: { systemSeconds: 3_600, processSeconds: 2 },
  disks: [],
  network: [],
};

function openSamples(t: TestContext) {
  const bus = new Bus();
  const announced: ApiEvent[] = [];
  bus.on((announcement) => announced.push(announcement));
  const samples = new Samples({ bus });
  t.after(() => samples.close());
  return { samples, announced };
}

test("before the first sample a reader gets a time to retry", (t) => {
  const { samples } = openSamples(t);

  assert.throws(
    () => samples.current(),
    (error) => {
      assert.ok(error instanceof MantelError);
      assert.equal(error.code, "service_unavailable");
      assert.equal(error.extras.retryAfterMs, 1_000);
      return true;
    },
  );
});

test("a sample is shown with figures of the host's own process", (t) => {
  const { samples } = openSamples(t);

  samples.accept(SAMPLE);

  const view = samples.current();
  assert.deepEqual(faultsOf(SystemView, view), []);
  assert.deepEqual(view.memory, SAMPLE.memory);
  assert.equal(view.process.pid, process.pid);
  assert.ok(view.process.memoryBytes > view.process.heapBytes);
  assert.ok(Math.abs(view.uptime.processSeconds - process.uptime()) < 2);
  assert.equal(view.uptime.systemSeconds, 3_600);
});

test("all readers between two samples get the same one", (t) => {
  const { samples } = openSamples(t);
  samples.accept(SAMPLE);

  const first = samples.current();

  assert.equal(samples.current(), first);
});

test("each sample is announced once", (t) => {
  const { samples, announced } = openSamples(t);

  samples.accept(SAMPLE);
  samples.accept({ ...SAMPLE, sampledAt: "2026-11-20T18:00:05.000Z" });

  assert.deepEqual(
    announced.map(({ topic }) => topic),
    ["system.sample", "system.sample"],
  );
  const { process: _, ...shared } = samples.current();
  assert.deepEqual(announced[1]?.data, shared);
});

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { machineDisks, provide } from "@mantel/plugin-sdk";
import { SystemSample } from "@mantel/plugin-sdk/metrics";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { MachineDisks } from "../../../host/system/disks.ts";
import { faultsOf } from "../../../host/validate.ts";
import plugin from "../../../plugins/system/index.ts";
import type { Counters } from "../../../plugins/system/sampler.ts";
import { watchResources } from "../../helpers/resources.ts";
import { until } from "../../helpers/until.ts";

const linux = { skip: process.platform === "linux" ? false : "there is no /proc here" };
after(watchResources());

async function startSystem(t: TestContext, { handedOver }: { handedOver?: unknown } = {}) {
  const disks = new MachineDisks();
  const services = [provide(machineDisks, async () => [...(await disks.callService())])];
  const running = await startPlugin(plugin, { config: { sampleSeconds: 1 }, handedOver, services });
  let state: Promise<unknown> | undefined;
  const stop = () => (state ??= running.stop());
  t.after(stop);
  const sample = () => running.published["system.sample"];
  return { sample, stop, logs: running.logs };
}

test("the first sample is available at the end of the start and matches its schema", async (t) => {
  const { sample } = await startSystem(t);

  assert.deepEqual(faultsOf(SystemSample, sample()), []);
  assert.equal(sample()?.cpu.percent, null);
});

test("later samples contain load, disks and network rates", async (t) => {
  const { sample } = await startSystem(t);
  const first = sample();

  const later = await until(() => (sample() === first ? undefined : sample()));

  assert.deepEqual(faultsOf(SystemSample, later), []);
  assert.equal(typeof later.cpu.percent, "number");
  assert.ok(later.disks.some(({ mount, totalBytes }) => mount === "/" && totalBytes > 0));
  assert.ok(later.network.every(({ receivedPerSecond }) => receivedPerSecond !== null));
});

test("memory and uptime agree with /proc", linux, async (t) => {
  const { sample } = await startSystem(t);

  const meminfo = await readFile("/proc/meminfo", "utf8");
  const [upSeconds] = (await readFile("/proc/uptime", "utf8")).split(" ").map(Number);

  const totalKiB = Number(/^MemTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1]);
  const availableKiB = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1]);
  const { memory, uptime } = sample() ?? assert.fail("there is no sample");
  assert.equal(memory.totalBytes, totalKiB * 1_024);
  assert.ok(Math.abs(memory.availableBytes - availableKiB * 1_024) < 256 * 2 ** 20);
  assert.equal(memory.usedBytes, memory.totalBytes - memory.availableBytes);
  assert.ok(Math.abs(uptime.systemSeconds - (upSeconds ?? NaN)) < 2);
});

test("after a reload the load is computed from the previous generation's last sample", async (t) => {
  const before = await startSystem(t);
  const handedOver = (await before.stop()) as Counters;

  const { sample } = await startSystem(t, { handedOver });
  assert.equal(sample(), undefined);

  const first = await until(sample);
  assert.equal(typeof first.cpu.percent, "number");
  assert.ok(first.disks.length > 0);
  assert.ok(first.network.every(({ sentPerSecond }) => sentPerSecond !== null));
});

test("a start lists no disks, because callers may wait for it", async (t) => {
  let listed = 0;
  const services = [provide(machineDisks, () => (listed++, []))];
  const running = await startPlugin(plugin, { config: { sampleSeconds: 1 }, services });
  t.after(() => running.stop());

  await turn();
  assert.equal(listed, 0);

  await until(() => listed === 1);
});

test("samples are published at the configured interval and end with the plugin", async (t) => {
  const { sample, stop } = await startSystem(t);
  await until(() => sample()?.cpu.percent !== null);
  const second = sample();
  const third = await until(() => (sample() === second ? undefined : sample()));
  await stop();

  const apart = Date.parse(third.sampledAt) - Date.parse(second?.sampledAt ?? "");
  assert.ok(apart >= 950 && apart < 2_000, `${apart} ms`);
});

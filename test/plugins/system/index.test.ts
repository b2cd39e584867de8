import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { hostProcess, machineDisks, provide } from "@mantel/plugin-sdk";
import type { ChannelValue } from "@mantel/plugin-sdk/channel";
import { startPlugin } from "@mantel/plugin-sdk/testing";
import { MachineServices } from "../../../host/machine/services.ts";
import { faultsOf } from "../../../host/validate.ts";
import { channels } from "../../../plugins/system/channels.ts";
import plugin from "../../../plugins/system/index.ts";
import type { Counters } from "../../../plugins/system/sampler.ts";
import { watchResources } from "../../helpers/resources.ts";
import { loadNow, until } from "../../helpers/until.ts";

type Sample = ChannelValue<typeof channels.sample>;
const linux = { skip: process.platform === "linux" ? false : "there is no /proc here" };
after(watchResources());

async function startSystem(t: TestContext, { handedOver }: { handedOver?: unknown } = {}) {
  const machine = new MachineServices();
  t.after(() => machine.close());
  const services = [machineDisks, hostProcess].map((service) =>
    provide(service, () => machine.callService({ key: service.name }) as never),
  );
  const running = await startPlugin(plugin, { config: { sampleSeconds: 1 }, handedOver, services });
  let state: Promise<unknown> | undefined;
  const stop = () => (state ??= running.stop());
  t.after(stop);
  const sample = () => running.published["sample"] as Sample | undefined;
  return { sample, stop, logs: running.logs };
}

test("the first sample is available at the end of the start and matches its schema", async (t) => {
  const { sample } = await startSystem(t);

  assert.deepEqual(faultsOf(channels.sample.schema, sample()), []);
  assert.equal(sample()?.cpu.percent, null);
  const { process: host, uptime } = sample() ?? assert.fail("there is no sample");
  assert.equal(
    Object.keys(sample() ?? {}).join(),
    "sampledAt,cpu,memory,temperature,uptime,disks,network,process",
  );
  assert.deepEqual([host.pid, uptime.processSeconds], [process.pid, host.uptimeSeconds]);
});

test("later samples contain load, disks and network rates", async (t) => {
  const { sample } = await startSystem(t);
  const first = sample();

  const later = await until(() => {
    const now = sample();
    return now !== first && (now?.disks.length ?? 0) > 0 ? now : undefined; // the first may come without them
  });

  assert.deepEqual(faultsOf(channels.sample.schema, later), []);
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
  await until(() => (sample()?.disks.length ?? 0) > 0);
  assert.ok(first.network.every(({ sentPerSecond }) => sentPerSecond !== null));
});

test("after a rest the first sample is available at the end of the start, with the disks from before", async (t) => {
  const before = await startSystem(t);
  await until(() => (before.sample()?.disks.length ?? 0) > 0);
  const handedOver = (await before.stop()) as Counters;
  const cores = handedOver.cores.map(({ busyMs, totalMs }) => ({
    busyMs: busyMs - 6_000,
    totalMs: totalMs - 60_000,
  }));

  const { sample } = await startSystem(t, {
    handedOver: { ...handedOver, cores, readAtMs: handedOver.readAtMs - 60_000 },
  });

  assert.equal(typeof sample()?.cpu.percent, "number");
  assert.deepEqual(sample()?.disks, before.sample()?.disks);
});

test("a start lists no disks, because callers may wait for it", async (t) => {
  let listed = 0;
  const machine = new MachineServices();
  t.after(() => machine.close());
  const services = [
    provide(machineDisks, () => (listed++, [])),
    provide(hostProcess, () => machine.callService({ key: hostProcess.name }) as never),
  ];
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
  assert.ok(apart >= 950 && apart < 2_000 * loadNow(), `${apart} ms`);
});

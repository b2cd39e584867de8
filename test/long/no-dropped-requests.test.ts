import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { askedIds, countingBridge } from "../../scripts/bench/shared/counting-bridge.ts";
import { EventWatch } from "../../scripts/bench/shared/event-watch.ts";
import { Traffic, TOPIC } from "../../scripts/bench/shared/traffic.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { collect, startMosquitto, withoutMosquitto } from "../helpers/mosquitto.ts";
import { until } from "../helpers/until.ts";
import { crash, readModule } from "../helpers/upheaval.ts";

const RATES = { reads: 60, commands: 20, publishes: 10 };
const BACK = { withinMs: 15_000 };

test(
  "reloads, rollbacks, restarts and crashes under load lose, repeat and fail nothing",
  { skip: withoutMosquitto },
  async (t) => {
    const mosquitto = await startMosquitto(t);
    const messages = await collect(t, mosquitto.url, { filter: TOPIC });
    const host = await startHost(t, {
      plugins: ["plugins/mqtt", "plugins/calendar", "plugins/system"],
      env: { MANTEL_MQTT_URL: mosquitto.url },
    });
    await save(host, 1);
    await until(async () => (await readModule(host, "counter")).state === "active", BACK);
    const target = { url: host.url, data: host.data, token: await host.token("admin") };
    const watch = new EventWatch(target);
    const traffic = new Traffic(target, RATES);

    await save(host, 2);
    await until(async () => (await readModule(host, "counter")).generation === 2, BACK);
    await save(host, 3, "throw new Error('boom');");
    const refused = await host.api("/modules/counter/reload", { method: "POST" });
    const limits = { limits: { callMs: 9_000 } };
    const modules = { mqtt: limits, calendar: limits, system: limits };
    await host.api("/config", { method: "PATCH", json: { modules } });
    for (const id of Object.keys(modules)) {
      await until(async () => (await readModule(host, id)).generation === 2, BACK);
    }
    const counted = await count(host);
    for (const id of ["mqtt", "calendar", "system"]) await crash(host, id);
    await crash(host, "counter");

    const payloads = () => messages.map(({ payload }) => payload);
    const { reads, commands, publishes } = await traffic.stop(payloads);
    assert.equal(refused.status, 422);
    assert.deepEqual([reads.faults, reads.unknown], [{}, 0]);
    assert.deepEqual([commands.faults, commands.lost, commands.doubled], [{}, 0, 0]);
    assert.deepEqual([publishes.faults, publishes.lost, publishes.doubled], [{}, 0, 0]);
    const { events, ...amiss } = await watch.stop();
    assert.deepEqual(amiss, { cuts: 0, gaps: 0, resyncs: 0, vanished: 0, unavailable: 0 });
    assert.ok(events > 0 && counted > 0);
    assert.ok((await askedIds(host.data)).length >= counted, "the state was handed over");
  },
);

async function save(host: TestHost, round: number, fault = ""): Promise<void> {
  await mkdir(join(host.plugins, "counter"), { recursive: true });
  for (const [file, content] of Object.entries(countingBridge(round, fault))) {
    await writeFile(join(host.plugins, file), content);
  }
}

async function count(host: TestHost): Promise<number> {
  const device = await (await host.api("/smart-home/devices/count:light:1")).json();
  return (device as { state: { count: number } }).state.count;
}

import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Device } from "@mantel/plugin-sdk/device";
import { arrived } from "../../../scripts/bench/shared/arrived.ts";
import { type FakeHueBridge, startHueBridge } from "../../fakes/hue-bridge.ts";
import { idOf } from "../../fakes/hue-home.ts";
import { startHost, type TestHost } from "../../helpers/host.ts";
import { until } from "../../helpers/until.ts";
import {
  assertPaced,
  assertTakenOrTold,
  command,
  deviceList,
  json,
  listen,
  moduleView,
  pairBridge,
} from "./hue-host.ts";

const LIGHT = idOf("lamp-1-light-0");

test("a home with a Hue bridge", async (t) => {
  const bridge = await startHueBridge(t);
  const host = await startHost(t, { plugins: ["plugins/hue"] });

  await t.test("is paired from the settings page", () => pairs(host, bridge));
  await t.test("follows a slider at the rate of the bridge, and its last value arrives", () =>
    followsSlider(host, bridge),
  );
  await t.test("groups and scenes get one command per second, without slowing down lights", () =>
    sparesGroups(host, bridge),
  );
  await t.test(
    "during a reload under load no device vanishes or flaps, and no state is lost",
    (part) => reloads(part, host, bridge),
  );
  await t.test("leaves nothing open when it is reloaded while the bridge does not answer", () =>
    leavesNothing(host, bridge),
  );
  await t.test(
    "has the same numbers after a restart, also while the bridge is unreachable",
    (part) => restarts(part, host, bridge),
  );
});

async function pairs(host: TestHost, bridge: FakeHueBridge) {
  assert.equal((await moduleView(host)).state, "unconfigured");

  await pairBridge(host, bridge);

  await until(async () => (await deviceList(host)).length === 8);
  const tested = host.api("/modules/hue/test", { method: "POST", json: {} });
  const { ok, detail } = await json<{ ok: boolean; detail: string }>(tested);
  assert.deepEqual([ok, detail], [true, `${bridge.id} answers, and has 3 lights`]);
  const config = await (await host.api("/config")).text();
  assert.ok(!config.includes(bridge.key) && !host.log().includes(bridge.key));
}

async function followsSlider(host: TestHost, bridge: FakeHueBridge) {
  const [desk, shelf] = (await deviceList(host)).filter(({ kind }) => kind === "light");
  assert(desk && shelf);
  bridge.asked.length = 0;

  const answers: Promise<Response>[] = [];
  for (let change = 1; change <= 300; change++) {
    const value = { brightness: 1 + (change % 99) };
    answers.push(command(host, change % 2 ? desk.id : shelf.id, value));
    await delay(10);
  }
  await arrived(host.url);
  answers.push(command(host, desk.id, { brightness: 77 }));
  for (const answer of await Promise.all(answers)) await assertTakenOrTold(answer);

  assertPaced(bridge);
  assert.deepEqual(bridge.changesOf(LIGHT).at(-1), {
    on: { on: true },
    dimming: { brightness: 77 },
  });
  const shown = await json<Device>(host.api(`/smart-home/devices/${desk.id}`));
  assert.equal(shown.state["brightness"], 77);
}

async function sparesGroups(host: TestHost, bridge: FakeHueBridge) {
  const devices = await deviceList(host);
  const [room, zone] = devices.filter(({ kind }) => kind === "group");
  const light = devices.find(({ kind }) => kind === "light");
  assert(room && zone && light);

  const first = await command(host, room.id, { on: true });
  const second = command(host, zone.id, { on: true });
  await until(async () => {
    const { pending } = await json<Device>(host.api(`/smart-home/devices/${zone.id}`));
    return pending["on"];
  });
  const scene = await host.api("/smart-home/scenes/hue:scene:1/activate", { method: "POST" });
  const other = await command(host, light.id, { brightness: 10 });

  assert.deepEqual([first.status, scene.status, other.status], [200, 409, 200]);
  assert.ok(Number(scene.headers.get("retry-after")) >= 1);
  assert.equal((await second).status, 200);
  assert.equal(bridge.throttled, 0);
}

async function reloads(t: TestContext, host: TestHost, bridge: FakeHueBridge) {
  bridge.asked.length = 0;
  const heard = await listen(t, host);
  let last = 0;
  const busy = setInterval(() => {
    last = (last % 99) + 1;
    bridge.change(LIGHT, { dimming: { brightness: last } });
  }, 20);

  for (let reload = 0; reload < 3; reload++) {
    await appendFile(join(host.plugins, "hue/index.ts"), `\nexport const v${reload} = 1;\n`);
    const answer = host.api("/modules/hue/reload", { method: "POST" });
    const receipt = await json<{ reload: { result: string; leftOpen: unknown[] } }>(answer);
    assert.deepEqual(receipt.reload?.leftOpen, [], JSON.stringify(receipt));
    await delay(100);
  }
  clearInterval(busy);

  const lamp = () => heard.findLast(({ device }) => device?.name === "Desk")?.device;
  await until(() => lamp()?.state["brightness"] === last);
  const comings = heard.filter(({ topic }) => /^device\.(added|removed)$/.test(topic));
  assert.deepEqual(comings, []);
  assert.ok(heard.every(({ device }) => device?.available !== false));
  assert.deepEqual(bridge.asked, [], "everything was read again");
  const { generation } = await moduleView(host);
  assert.ok(generation >= 4, `generation ${generation}`);
}

async function leavesNothing(host: TestHost, bridge: FakeHueBridge) {
  const lamp = (await deviceList(host)).find(({ kind }) => kind === "light");
  for (const fault of ["never", "half"] as const) {
    bridge.fault = fault;
    const begun = command(host, lamp?.id ?? "", { on: true });
    bridge.cut();
    await appendFile(join(host.plugins, "hue/index.ts"), `\nexport const ${fault} = 1;\n`);
    const answer = host.api("/modules/hue/reload", { method: "POST" });
    const receipt = await json<{ reload: { leftOpen: unknown[] } }>(answer);
    assert.deepEqual(receipt.reload?.leftOpen, [], JSON.stringify(receipt));
    await begun;
  }
  bridge.fault = undefined;
}

async function restarts(t: TestContext, host: TestHost, bridge: FakeHueBridge) {
  const numbers = async (of: TestHost) =>
    Object.fromEntries((await deviceList(of)).map(({ name, id }) => [name, id]));
  const before = await numbers(host);
  await host.stop();
  await bridge.stop();

  const next = await startHost(t, { plugins: ["plugins/hue"], data: host.data });
  await until(async () => (await moduleView(next)).state === "degraded", { withinMs: 15_000 });
  assert.deepEqual(await numbers(next), before);
  assert.ok((await deviceList(next)).every(({ available }) => !available));

  await bridge.start();
  await until(async () => (await deviceList(next)).every(({ available }) => available), {
    withinMs: 15_000,
  });
  assert.deepEqual(await numbers(next), before);
}

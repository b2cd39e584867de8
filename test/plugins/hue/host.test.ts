import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Device } from "@mantel/plugin-sdk/device";
import { type FakeHueBridge, startHueBridge } from "../../fakes/hue-bridge.ts";
import { startHost, type TestHost } from "../../helpers/host.ts";
import { until } from "../../helpers/until.ts";

const LIGHT = "lamp-1-light-0";

async function json<T>(answer: Promise<Response>): Promise<T> {
  return (await (await answer).json()) as T;
}

const deviceList = async (host: TestHost) =>
  (await json<{ devices: Device[] }>(host.api("/smart-home/devices"))).devices;
const moduleState = async (host: TestHost) =>
  (await json<{ state: string }>(host.api("/modules/hue"))).state;
const command = (host: TestHost, id: string, body: object) =>
  host.api(`/smart-home/devices/${id}/command`, { method: "POST", json: body });

/** The topics and data of the host's event stream, as they come. */
async function listen(t: TestContext, host: TestHost) {
  const ended = new AbortController();
  const heard: { topic: string; device?: Device }[] = [];
  const stream = await host.api("/events", { signal: ended.signal });
  const reading = (async () => {
    let text = "";
    for await (const chunk of stream.body ?? []) {
      const events = (text + Buffer.from(chunk).toString()).split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const topic = /^event: (.*)$/m.exec(event)?.[1];
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (topic && data) heard.push({ topic, ...(JSON.parse(data) as object) });
      }
    }
  })().catch(() => undefined);
  t.after(async () => {
    ended.abort();
    await reading;
  });
  return heard;
}

test("a home with a Hue bridge", async (t) => {
  const bridge = await startHueBridge(t);
  const host = await startHost(t, { plugins: ["plugins/hue"] });

  await t.test("is paired from the settings page", () => pairs(host, bridge));
  await t.test("follows a slider at the rate of the bridge, and its last value arrives", () =>
    followsSlider(host, bridge),
  );
  await t.test("gives groups and scenes one change a second, which slows no light", () =>
    sparesGroups(host, bridge),
  );
  await t.test(
    "reloads while it is busy, and no device vanishes or flaps, no state is lost",
    (part) => reloads(part, host, bridge),
  );
  await t.test("has the same numbers after a restart, also while the bridge is away", (part) =>
    restarts(part, host, bridge),
  );
});

async function pairs(host: TestHost, bridge: FakeHueBridge) {
  assert.equal(await moduleState(host), "unconfigured");

  await host.api("/modules/hue/setup", { method: "POST" });
  const view = () => json<{ state: string; step: number }>(host.api("/modules/hue/setup"));
  const { step } = await until(
    async () => {
      const seen = await view();
      return seen.state === "asking" && seen;
    },
    { withinMs: 15_000 },
  );
  bridge.pressButton();
  const answer = { step, answer: { bridges: bridge.address } };
  const answered = await host.api("/modules/hue/setup/answer", { method: "POST", json: answer });
  assert.equal(answered.status, 200, await answered.text());
  await until(async () => (await view()).state === "done", { withinMs: 15_000 });

  await until(async () => (await moduleState(host)) === "active", { withinMs: 15_000 });
  assert.equal((await deviceList(host)).length, 8);
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
  answers.push(command(host, desk.id, { brightness: 77 }));
  for (const answer of await Promise.all(answers)) await assertTakenOrTold(answer);

  const sent = bridge.asked.filter(({ method }) => method === "PUT");
  const tookMs = (sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0);
  assert.equal(bridge.throttled, 0);
  assert.ok(sent.length <= tookMs / 100 + 3, `${sent.length} changes in ${tookMs} ms`);
  assert.deepEqual(bridge.changesOf(LIGHT).at(-1), {
    on: { on: true },
    dimming: { brightness: 77 },
  });
  const shown = await json<Device>(host.api(`/smart-home/devices/${desk.id}`));
  assert.equal(shown.state["brightness"], 77);
}

/** 200, or 409 with when to come back. */
async function assertTakenOrTold(answer: Response) {
  if (answer.status === 200) return;
  assert.equal(answer.status, 409);
  const { retryAfterMs } = (await answer.json()) as { retryAfterMs: number };
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  assert.equal(answer.headers.get("retry-after"), `${seconds}`);
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
  assert.deepEqual(bridge.asked, [], "everything was read anew");
  const { generation } = await json<{ generation: number }>(host.api("/modules/hue"));
  assert.ok(generation >= 4, `generation ${generation}`);
}

async function restarts(t: TestContext, host: TestHost, bridge: FakeHueBridge) {
  const numbers = async (of: TestHost) =>
    Object.fromEntries((await deviceList(of)).map(({ name, id }) => [name, id]));
  const before = await numbers(host);
  await host.stop();
  await bridge.stop();

  const next = await startHost(t, { plugins: ["plugins/hue"], data: host.data });
  await until(async () => (await moduleState(next)) === "degraded", { withinMs: 15_000 });
  assert.deepEqual(await numbers(next), before);
  assert.ok((await deviceList(next)).every(({ available }) => !available));

  await bridge.start();
  await until(async () => (await deviceList(next)).every(({ available }) => available), {
    withinMs: 15_000,
  });
  assert.deepEqual(await numbers(next), before);
}

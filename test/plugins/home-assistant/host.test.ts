import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { furnish } from "../../fakes/home-assistant-entities.ts";
import { FakeHomeAssistant } from "../../fakes/home-assistant.ts";
import { startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const ID = "home-assistant";
const FOLDER = resolve(import.meta.dirname, "../../../plugins/home-assistant");

/** The plugin in a process of its own, at a furnished Home Assistant. */
async function startHost(t: TestContext, fake: FakeHomeAssistant, before?: string) {
  const names = (await readdir(FOLDER)).filter((name) => /\.(ts|json)$/.test(name));
  const files = names.map(async (name) => [name, await readFile(join(FOLDER, name), "utf8")]);
  const plugins = { [ID]: Object.fromEntries(await Promise.all(files)) as Record<string, string> };
  const host = await startModules(t, before ? {} : plugins, before);
  const settle = () =>
    until(() => host.devices.list().some(({ available }) => available), { withinMs: 20_000 });
  const patch = () =>
    host.config.patch({ [ID]: { url: fake.url, token: fake.token } }, { admin: true });
  return { ...host, settle, patch };
}

async function startFake(t: TestContext): Promise<FakeHomeAssistant> {
  const fake = await FakeHomeAssistant.start(t);
  furnish(fake);
  return fake;
}

test("the plugin waits for its setup, is tested and starts with its options", async (t) => {
  const fake = await startFake(t);
  const { registry, patch, settle, devices } = await startHost(t, fake);
  const trials = registry.trialsOf(ID);
  assert.equal(registry.get(ID).state, "unconfigured");

  const found = await trials.test({ url: fake.url, token: fake.token });
  const refused = await trials.test({ url: fake.url, token: "wrong" });
  const nobody = await trials.test({ url: "http://127.0.0.1:9", token: "x" });
  await patch();
  await settle();

  assert.deepEqual(
    [found.ok, found.detail],
    [true, `Home Assistant 2026.11.1, "Test home", with ${fake.entities.size} entities`],
  );
  assert.match(refused.detail, /refuses the access token/);
  assert.match(nobody.detail, /127\.0\.0\.1:9 cannot be reached: nothing answers/);
  assert.equal(registry.get(ID).state, "active");
  assert.equal(devices.list().find(({ name }) => name === "Sofa lamp")?.room, "Living room");
});

test("a reload during many changes loses no device and no state", async (t) => {
  const fake = await startFake(t);
  const COUNT = 200;
  const id = (at: number) => `light.many_${at}`;
  const attributes = { supported_color_modes: ["brightness"], brightness: 1 };
  for (let at = 0; at < COUNT; at++) fake.set(id(at), "on", attributes);
  const { bus, devices, patch, edit, once } = await startHost(t, fake);
  await patch();
  await until(() => devices.list().length > COUNT);
  const faults: string[] = [];
  bus.on(({ topic, data }) => {
    if (topic === "device.removed") faults.push(`${data.id} was removed`);
    if (topic === "device.state" && !data.device.available) faults.push(data.device.id);
  });

  let sent = 0;
  const flood = setInterval(() => {
    for (let burst = 0; burst < 5; burst++) {
      fake.change(id(sent % COUNT), { brightness: (sent++ % 254) + 1 });
    }
  }, 10);
  for (const generation of [2, 3, 4]) {
    await until(() => sent > generation * 100);
    await edit(`${ID}/mirror.ts`, (source) =>
      source.replace(/GATHER_MS = 30\d/, `GATHER_MS = 30${generation}`),
    );
    await once(ID, (view) => view.generation >= generation, 20_000);
  }
  clearInterval(flood);
  const expected = (at: number) => fake.entities.get(id(at))?.attributes["brightness"];

  const wrong = () =>
    devices.list().flatMap(({ name, state }) => {
      const at = Number(/^light\.many_(\d+)$/.exec(name)?.[1] ?? -1);
      const level = Math.round((Number(state["brightness"]) / 100) * 255);
      return at < 0 || level === expected(at) ? [] : [`${name}: ${level}`];
    });

  await until(() => wrong().length === 0).catch(() => assert.deepEqual(wrong(), []));
  assert.deepEqual(faults, []);
});

test("a reload while Home Assistant does not answer leaves nothing open", async (t) => {
  const fake = await startFake(t);
  const { registry, devices, commands, patch, settle, edit } = await startHost(t, fake);
  await patch();
  await settle();
  const lamp = devices.list().find(({ name }) => name === "Sofa lamp")?.id ?? "";
  const faults = [{ mute: true, idle: true }, { unanswered: "get_config" }, { silent: true }];

  for (const [at, fault] of faults.entries()) {
    Object.assign(fake.faults, fault);
    if (at === 0) commands.send(lamp, { on: false }).done.catch(() => undefined);
    else fake.drop();
    await until(() => (at === 0 ? fake.calls.length > 0 : fake.connections > 0));
    await edit(`${ID}/mirror.ts`, (source) =>
      source.replace(/GATHER_MS = 30\d/, `GATHER_MS = 30${at + 1}`),
    );
    const { reload } = await registry.reload(ID);
    assert.deepEqual(reload.leftOpen, [], JSON.stringify(fault));
  }
});

test("device numbers survive a restart while Home Assistant is unreachable", async (t) => {
  const fake = await startFake(t);
  const first = await startHost(t, fake);
  await first.patch();
  await first.settle();
  const names = (host: typeof first) =>
    host.devices
      .list()
      .map(({ id, name }) => `${id} ${name}`)
      .toSorted();
  const before = names(first);
  await until(() => first.scenes.list().length > 0);
  const scenes = first.scenes.list().map(({ id }) => id);
  await first.stop();
  await fake.kill();

  const second = await startHost(t, fake, first.home);
  await until(() => second.devices.list().length === before.length);
  const isAway = second.devices.list().every(({ available }) => !available);
  await fake.listen();
  await second.settle();

  assert.equal(isAway, true);
  assert.deepEqual(names(second), before);
  assert.deepEqual(
    second.scenes.list().map(({ id }) => id),
    scenes,
  );
});

test("a slider with 300 changes ends at the last value, within the rate limit", async (t) => {
  const fake = await startFake(t);
  const { commands, devices, patch, settle } = await startHost(t, fake);
  await patch();
  await settle();
  const lamp = devices.list().find(({ name }) => name === "Sofa lamp")?.id ?? "";

  const outcomes: Promise<unknown>[] = [];
  const startedAt = performance.now();
  for (let at = 1; at <= 300; at++) {
    const brightness = 100 - (at % 90);
    try {
      outcomes.push(commands.send(lamp, { brightness }).done.catch((error: unknown) => error));
    } catch (error) {
      outcomes.push(Promise.resolve(error));
    }
    await delay(5);
  }
  await Promise.all(outcomes);
  await commands.send(lamp, { brightness: 37 }).done;

  assert.equal(devices.get(lamp).state["brightness"], 37);
  assert.equal(fake.entities.get("light.sofa")?.attributes["brightness"], 94);
  const seconds = (performance.now() - startedAt) / 1_000;
  const most = Math.min(41 + 20 * seconds, 299);
  assert.ok(fake.calls.length <= most, `${fake.calls.length} calls in ${seconds} s`);
});

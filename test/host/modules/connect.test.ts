import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";

const LISTENER = `
import { setTimeout as delay } from "node:timers/promises";
import { definePlugin, Type, brokerAddress, provide } from "@mantel/plugin-sdk";

const CONNECT_MS = 0;
let tries = 0;

export default definePlugin({
  state: Type.Object({ count: Type.Integer() }),
  async connect({ handedOver }) {
    await delay(CONNECT_MS);
    return "connected " + ++tries + (handedOver === undefined ? "" : " too late");
  },
  start({ handedOver }, connected) {
    let count = handedOver?.count ?? 0;
    return {
      services: [provide(brokerAddress, async () => ({ url: connected + " " + ++count }))],
      handOver: () => ({ count }),
    };
  },
});
`;
const listener = {
  "package.json": packageJson("listener", { provides: ["broker.address"] }),
  "index.ts": LISTENER,
};

const ask = async (services: { call(name: string, input: unknown): Promise<unknown> }) =>
  ((await services.call("broker.address", {})) as { url: string }).url;

test("new code connects while the old code answers, and starts with what it opened", async (t) => {
  const { services, edit, once } = await startModules(t, { listener });
  assert.equal(await ask(services), "connected 1 1");

  await edit("listener/index.ts", (source) =>
    source.replace("CONNECT_MS = 0", "CONNECT_MS = 2_000"),
  );
  const view = await once(
    "listener",
    ({ generation, lastReload }) => generation === 2 && lastReload !== null,
  );

  assert.equal(await ask(services), "connected 1 2");
  assert.ok((view.lastReload?.downtimeMs ?? Infinity) < 2_000, `${view.lastReload?.downtimeMs}`);
});

test("code that cannot connect ahead connects at its start", async (t) => {
  const { services, edit, once } = await startModules(t, { listener });
  await ask(services);

  await edit("listener/index.ts", (source) =>
    source.replace(
      'return "connected',
      'if (++tries === 1) throw new Error("busy");\nreturn "connected',
    ),
  );
  await once("listener", ({ generation }) => generation === 2);

  assert.equal(await ask(services), "connected 3 2");
});

test("if code connects but does not start, the previous code continues", async (t) => {
  const { services, edit, once } = await startModules(t, { listener });
  await ask(services);

  await edit("listener/index.ts", (source) =>
    source.replace("let count", 'throw new Error("boom"); let count'),
  );
  await once("listener", ({ lastReload }) => lastReload?.result === "rolled_back");

  assert.equal(await ask(services), "connected 2 2");
});

test("code that is still connecting at its start finishes connecting and does not connect twice", async (t) => {
  const { services, edit, once } = await startModules(t, { listener });
  await ask(services);

  await edit("listener/index.ts", (source) =>
    source.replace("CONNECT_MS = 0", "CONNECT_MS = 5_500"),
  );
  await once("listener", ({ generation }) => generation === 2, 10_000);

  assert.equal(await ask(services), "connected 1 2");
});

const LAMP = `
import { definePlugin } from "@mantel/plugin-sdk";

const capabilities = { on: { type: "boolean" }, level: { type: "number", min: 0, max: 9 } };

export default definePlugin({
  async connect({ devices, status }) {
    devices.update({ nativeId: "lamp-1", state: { level: 9 } });
    devices.update({ nativeId: "lamp-1", state: { level: 8 } });
    devices.event("lamp-1", "press");
    status.degraded("the lamp is away");
  },
  async start({ devices }) {
    await devices.publish([
      { nativeId: "lamp-1", kind: "light", name: "One", capabilities, state: { on: true, level: 1 } },
    ]);
  },
});
`;
const lamp = {
  "package.json": packageJson("lamp", { bridge: { kind: "garden", commandsPerSecond: 10 } }),
  "index.ts": LAMP,
};

test("device updates in connect are ignored at each start, and the log says where they belong", async (t) => {
  const { registry, bus, devices, edit, once } = await startModules(t, { lamp });
  const warned = () => registry.logs("lamp", { level: "warn" }).map(({ sentence }) => sentence);
  const told = ["update", "event"].map(
    (what) => `devices.${what} was ignored in connect; buffer the messages and call it in start`,
  );
  assert.deepEqual(warned(), told);
  const events: unknown[] = [];
  bus.on(({ topic, data }) => topic === "device.event" && events.push(data));

  await edit("lamp/index.ts", (source) => source.replace('"One"', '"Two"'));
  await once("lamp", ({ generation }) => generation === 2);

  assert.deepEqual(warned(), [...told, ...told]);
  const device = devices.get("garden:light:1");
  assert.deepEqual([device.name, device.state["level"]], ["Two", 1]);
  assert.deepEqual(events, []);
});

test("a degraded reason from connect is shown when the code starts", async (t) => {
  const { edit, once } = await startModules(t, { lamp });
  await once("lamp", ({ error }) => error?.message === "the lamp is away");

  await edit("lamp/index.ts", (source) => source.replace("is away", "refuses the key"));
  await once("lamp", ({ error }) => error?.message === "the lamp refuses the key");
});

test("code that publishes in connect is rejected with its line", async (t) => {
  const { edit, once } = await startModules(t, { lamp });

  await edit("lamp/index.ts", (source) =>
    source.replace('devices.event("lamp-1", "press");', "await devices.publish([]);"),
  );
  const { error, lastReload } = await once("lamp", (view) => view.lastReload !== null);

  assert.equal(error?.message, "the lamp is away");
  assert.equal(lastReload?.result, "rolled_back");
  assert.match(
    lastReload?.error?.message ?? "",
    /devices\.publish is not allowed in connect, while the previous code runs; call it in start/,
  );
  assert.deepEqual([lastReload?.error?.file, lastReload?.error?.line], ["index.ts", 10]);
});

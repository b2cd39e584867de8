import assert from "node:assert/strict";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const IDLE =
  'import { definePlugin } from "@mantel/plugin-sdk";\nexport default definePlugin({ start() {} });\n';
const idle = (id: string, mantel: object = {}) => ({
  "package.json": packageJson(id, mantel),
  "index.ts": IDLE,
});
const BRIDGE = { bridge: { kind: "test", commandsPerSecond: 1 } };
const states = (registry: { list(): readonly { id: string; state: string }[] }) =>
  Object.fromEntries(registry.list().map(({ id, state }) => [id, state]));

test("a new folder becomes a module, and a removed one disappears", async (t) => {
  const { registry, write, once, root } = await startModules(t, { first: idle("first") });

  await write("second/index.ts", IDLE);
  await write("second/package.json", packageJson("second"));
  await until(() => registry.list().some(({ id, state }) => id === "second" && state === "active"));
  await rm(join(root, "first"), { recursive: true });
  await until(() => !registry.list().some(({ id }) => id === "first"));

  assert.equal((await once("second", ({ state }) => state === "active")).generation, 1);
});

test("a renamed folder keeps running under the id of its manifest", async (t) => {
  const { registry, root } = await startModules(t, { old: idle("steady") });

  await rename(join(root, "old"), join(root, "new"));
  await until(() => registry.running("steady")?.folder === join(root, "new"));

  assert.deepEqual(states(registry), { steady: "active" });
});

test("a broken manifest is listed with its file, and keeps no other from starting", async (t) => {
  const { registry, write, once } = await startModules(t, {
    good: idle("good"),
    bad: { "package.json": '{ "mantel": { "id": "bad", "kinds": ["robot"] } }' },
    worse: { "package.json": "{ not json" },
  });

  assert.deepEqual(states(registry), { bad: "failed", good: "active", worse: "failed" });
  assert.match(registry.get("bad").error?.message ?? "", /bad\/package\.json/);
  assert.match(registry.get("worse").error?.message ?? "", /is not JSON/);

  await write("bad/index.ts", IDLE);
  await write("bad/package.json", packageJson("bad"));
  await once("bad", ({ state }) => state === "active");
});

test("a manifest that breaks while its module runs is only reported", async (t) => {
  const { registry, write, once } = await startModules(t, { good: idle("good") });

  await write("good/package.json", "{");
  const view = await once("good", ({ lastReload }) => lastReload?.result === "rolled_back");

  assert.equal(view.state, "active");
  assert.match(view.lastReload?.error?.message ?? "", /is not JSON/);
  await write("good/package.json", packageJson("good"));
  await once("good", ({ lastReload }) => lastReload?.result === "unchanged");
  assert.equal(registry.get("good").generation, 1);
});

test("the first of two folders with one id works, and the other is reported", async (t) => {
  const { registry } = await startModules(t, { alpha: idle("twin"), beta: idle("twin") });

  assert.deepEqual(states(registry), { beta: "failed", twin: "active" });
  assert.match(registry.get("beta").error?.message ?? "", /alpha both have the id twin/);
});

test("a copied folder is reported and changes nothing, and takes over when the first one is removed", async (t) => {
  const { registry, write, root } = await startModules(t, { beta: idle("twin") });
  const copy = async (): Promise<void> => {
    for (const [file, text] of Object.entries(idle("twin"))) await write(`alpha/${file}`, text);
    await until(() => registry.list().some(({ id }) => id === "alpha"));
  };

  await copy();
  assert.deepEqual(states(registry), { alpha: "failed", twin: "active" });
  assert.match(registry.get("alpha").error?.message ?? "", /alpha and .*beta both have the id/);
  assert.equal(registry.running("twin")?.folder, join(root, "beta"));

  await rm(join(root, "alpha"), { recursive: true });
  await until(() => registry.list().length === 1);
  const { generation, lastReload } = registry.get("twin");
  assert.deepEqual([generation, lastReload], [1, null]);

  await copy();
  await rm(join(root, "beta"), { recursive: true });
  await until(() => registry.running("twin")?.folder === join(root, "alpha"));
  assert.equal(registry.get("twin").generation, 2);
  assert.deepEqual(states(registry), { twin: "active" });

  await rm(join(root, "alpha"), { recursive: true });
  await until(() => registry.list().length === 0);
});

test("after a restart of the host the folder that ran last keeps its id", async (t) => {
  const first = await startModules(t, { beta: idle("twin") });
  await first.stop();

  const { registry, root } = await startModules(t, { alpha: idle("twin") }, first.home);

  assert.deepEqual(states(registry), { alpha: "failed", twin: "active" });
  assert.equal(registry.running("twin")?.folder, join(root, "beta"));
});

test("a service held by another module is refused with that module's name", async (t) => {
  const provides = { provides: ["mqtt.publish"] };
  const { registry } = await startModules(t, {
    one: idle("one", provides),
    two: idle("two", provides),
  });

  const failed = registry.list().filter(({ state }) => state === "failed");
  assert.equal(failed.length, 1);
  assert.match(
    failed[0]?.error?.message ?? "",
    /provides mqtt\.publish, which (one|two) already provides/,
  );
});

test("a module starts when another module that held its service is disabled or removed", async (t) => {
  const provides = { provides: ["mqtt.publish"] };
  const { registry, once, root } = await startModules(t, {
    one: idle("one", provides),
    two: idle("two", provides),
  });
  const [first = "", second = ""] = registry
    .list()
    .toSorted((a, b) => a.state.localeCompare(b.state))
    .map(({ id }) => id);
  assert.deepEqual(states(registry), { [first]: "active", [second]: "failed" });

  await registry.disable(first);
  assert.deepEqual(states(registry), { [first]: "disabled", [second]: "active" });

  await registry.enable(first);
  assert.deepEqual(states(registry), { [first]: "failed", [second]: "active" });
  await rm(join(root, second), { recursive: true });
  const { error } = await once(first, ({ state }) => state === "active");
  assert.equal(error, null);
});

test("a fallback stops while a real bridge is configured, and then returns", async (t) => {
  const { registry } = await startModules(t, {
    demo: idle("demo", {
      bridge: { kind: "demo", commandsPerSecond: 1 },
      fallbackFor: { bridges: true },
    }),
    real: idle("real", BRIDGE),
  });
  assert.deepEqual(states(registry), { demo: "disabled", real: "active" });
  assert.match(registry.get("demo").error?.message ?? "", /not needed because the bridge real/);

  await registry.disable("real");
  await until(() => registry.get("demo").state === "active");
  await assert.rejects(registry.reload("real"), { message: "real is disabled; enable it first" });
  assert.equal(registry.get("real").state, "disabled");

  await registry.enable("real");
  await until(() => registry.get("demo").state === "disabled");
});

test("an opt-in module waits until it is configured", async (t) => {
  const { registry, config, once } = await startModules(t, {
    odd: {
      "package.json": packageJson("odd", { requiresConfig: true }),
      "index.ts": `
import { definePlugin, Type } from "@mantel/plugin-sdk";
export default definePlugin({
  options: Type.Object({ address: Type.String({ default: "odd.local" }) }),
  start: () => undefined,
});`,
    },
  });
  assert.equal(registry.get("odd").state, "unconfigured");
  assert.match(registry.get("odd").error?.message ?? "", /add a section "odd" to config.json/);

  await config.patch({ odd: { address: "odd.local" } }, { admin: true }); // which is the default
  await once("odd", ({ state }) => state === "active");
});

test("a fallback stops when a bridge is configured and returns when it is removed", async (t) => {
  const bridge = { kind: "odd", commandsPerSecond: 1 };
  const { registry, config } = await startModules(t, {
    demo: idle("demo", {
      bridge: { kind: "demo", commandsPerSecond: 1 },
      fallbackFor: { bridges: true },
    }),
    odd: {
      "package.json": packageJson("odd", { kinds: ["bridge"], bridge, requiresConfig: true }),
      "index.ts": `
import { definePlugin, Type } from "@mantel/plugin-sdk";
export default definePlugin({
  options: Type.Object({ address: Type.Optional(Type.String()) }),
  start: () => undefined,
});`,
    },
  });
  assert.deepEqual(states(registry), { demo: "active", odd: "unconfigured" });

  await config.patch({ odd: { address: "10.0.0.7" } }, { admin: true });
  await until(() => registry.get("odd").state === "active");
  await until(() => registry.get("demo").state === "disabled");

  await config.patch({ odd: { address: null } }, { admin: true });
  await until(() => registry.get("odd").state === "unconfigured");
  await until(() => registry.get("demo").state === "active");
});

test("a module whose options are missing is unconfigured until the config has them", async (t) => {
  const source = `
import { definePlugin, Type, brokerAddress, provide } from "@mantel/plugin-sdk";
export default definePlugin({
  options: Type.Object({ host: Type.String(), port: Type.Integer({ default: 80 }) }),
  start: ({ config }) => ({ services: [provide(brokerAddress, async () => ({ url: config.host + ":" + config.port }))] }),
});`;
  const { registry, config, services, once } = await startModules(t, {
    needy: {
      "package.json": packageJson("needy", { provides: ["broker.address"] }),
      "index.ts": source,
    },
  });
  assert.equal(registry.get("needy").state, "unconfigured");
  assert.match(registry.get("needy").error?.message ?? "", /host/);

  await config.patch({ needy: { host: "there" } }, { admin: true });
  await once("needy", ({ state }) => state === "active");
  assert.deepEqual(await services.call("broker.address", {}), { url: "there:80" });

  await config.patch({ needy: { port: 81 } }, { admin: true });
  await once(
    "needy",
    ({ lastReload, state }) => lastReload?.trigger === "config" && state === "active",
  );
  await until(
    async () => ((await services.call("broker.address", {})) as { url: string }).url === "there:81",
  );
});

test("a bridge publishes only what its manifest declares", async (t) => {
  const source = `
import { definePlugin, mqttPublish } from "@mantel/plugin-sdk";
export default definePlugin({ start: async ({ devices, call, publish }) => {
  await devices.publish([]).catch((error) => console.log("devices: " + error.message));
  await call(mqttPublish, { topic: "a", payload: "", qos: 0, retain: false }).catch((error) => console.log("call: " + error.message));
  await publish("calendar.window", {} as never).catch((error) => console.log("publish: " + error.message));
} });`;
  const { registry } = await startModules(t, {
    sly: { "package.json": packageJson("sly"), "index.ts": source },
  });

  const said = await until(() => {
    const sentences = registry.logs("sly").map(({ sentence }) => sentence);
    return sentences.length === 3 ? sentences : undefined;
  });
  assert.match(said[0] ?? "", /devices: .*add "bridge"/);
  assert.match(said[1] ?? "", /call: .*"mantel\.uses"/);
  assert.match(said[2] ?? "", /publish: .*"provides": \["calendar\.window"\]/);
});

test("an unknown module is named in the refusal", async (t) => {
  const { registry } = await startModules(t, {});

  assert.throws(() => registry.get("nobody"), { code: "module_unknown" });
  await assert.rejects(registry.reload("nobody"), (error: MantelError) =>
    /nobody/.test(error.message),
  );
});

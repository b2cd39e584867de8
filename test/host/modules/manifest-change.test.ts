import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const LAMP = `
import { definePlugin, Type, brokerAddress, provide } from "@mantel/plugin-sdk";
export default definePlugin({
  state: Type.Object({ count: Type.Integer() }),
  async start({ devices, handedOver }) {
    let count = handedOver?.count ?? 0;
    const state = () => ({ count });
    await devices.publish([{
      nativeId: "lamp", kind: "light", name: "Lamp", state: state(),
      capabilities: { on: { type: "boolean" }, count: { type: "number", readOnly: true } },
    }]);
    return {
      async command(nativeId) { count++; devices.update({ nativeId, state: state() }); },
      services: [provide(brokerAddress, async () => ({ url: "here" }))],
      handOver: () => ({ count }),
    };
  },
});
`;
const bridge = { kind: "test", commandsPerSecond: 100 };
const lamp = { "package.json": packageJson("lamp", { bridge }), "index.ts": LAMP };

test("a changed manifest applies with the state, and no device is removed in between", async (t) => {
  const { registry, bus, commands, devices, services, write, once } = await startModules(
    t,
    { lamp },
    undefined,
    { consentOnSave: true },
  );
  await commands.send("test:light:1", { on: true }).done;
  const news: string[] = [];
  t.after(bus.on(({ topic }) => void news.push(topic)));

  const next = {
    bridge: { kind: "test", commandsPerSecond: 7, confirmMs: 900 },
    title: "Night lamp",
    limits: { memoryMiB: 32, callMs: 700 },
    provides: ["broker.address"],
    permissions: { hosts: ["lamp.example.org"] },
  };
  await write("lamp/package.json", packageJson("lamp", next));
  const view = await once("lamp", ({ generation }) => generation === 2);

  assert.equal(view.name, "Night lamp");
  assert.deepEqual([view.limits.memoryMiB, view.limits.callMs], [32, 700]);
  assert.deepEqual(view.permissions.hosts, ["lamp.example.org"]);
  assert.deepEqual(await services.call("broker.address", {}), { url: "here" });
  await commands.send("test:light:1", { on: true }).done;
  assert.equal(devices.get("test:light:1").state["count"], 2);
  assert.deepEqual(
    news.filter((topic) => ["device.removed", "device.added", "module.removed"].includes(topic)),
    [],
  );
  assert.equal(registry.get("lamp").restarts, 0);
});

test("a manifest with which the code does not start changes nothing", async (t) => {
  const { registry, commands, devices, write, once } = await startModules(t, { lamp });
  await commands.send("test:light:1", { on: true }).done;

  await write("lamp/package.json", packageJson("lamp", { bridge, server: "absent.ts" }));
  await once("lamp", ({ lastReload }) => lastReload?.result === "rolled_back");
  await commands.send("test:light:1", { on: true }).done;

  assert.equal(devices.get("test:light:1").state["count"], 2);
  assert.equal(registry.get("lamp").generation, 1);
});

test("a renamed folder keeps its state", async (t) => {
  const { commands, devices, root, once } = await startModules(t, { lamp });
  await commands.send("test:light:1", { on: true }).done;

  await rename(join(root, "lamp"), join(root, "lantern"));
  await once("lamp", ({ generation }) => generation === 2);
  await commands.send("test:light:1", { on: true }).done;

  assert.equal(devices.get("test:light:1").state["count"], 2);
});

const other = packageJson("lamp", { bridge: { ...bridge, kind: "other" } });
const BROKEN = LAMP.replace("return {", 'throw new Error("no lamp"); return {');

test("devices get ids of the new kind of the bridge, and the state is handed over", async (t) => {
  const { commands, devices, write } = await startModules(t, { lamp });
  await commands.send("test:light:1", { on: true }).done;

  await write("lamp/package.json", other);

  await until(() => devices.find("other:light:1"));
  assert.equal(devices.find("test:light:1"), undefined);
  assert.equal(devices.get("other:light:1").state["count"], 1);
});

test("devices keep their ids while the code of another kind of bridge does not start", async (t) => {
  const { registry, commands, devices, write, once } = await startModules(t, { lamp });

  await write("lamp/index.ts", BROKEN);
  await once("lamp", ({ lastReload }) => lastReload?.result === "rolled_back");
  const { at } = registry.get("lamp").lastReload ?? {};
  await write("lamp/package.json", other);
  await once("lamp", ({ lastReload }) => lastReload?.at !== at);
  await commands.send("test:light:1", { on: true }).done;

  assert.equal(registry.get("lamp").lastReload?.result, "rolled_back");
  assert.equal(devices.find("other:light:1"), undefined);
  assert.equal(devices.get("test:light:1").state["count"], 1);

  await write("lamp/index.ts", LAMP);
  await until(() => devices.find("other:light:1"));
  assert.equal(devices.find("test:light:1"), undefined);
});

test("the last good code starts with its own kind of bridge at the host's next start", async (t) => {
  const first = await startModules(t, { lamp });
  await first.stop();
  await first.write("lamp/package.json", other);
  await first.write("lamp/index.ts", BROKEN);

  const { registry, devices } = await startModules(t, {}, first.home);

  assert.equal(registry.get("lamp").lastReload?.result, "rolled_back");
  assert.equal(devices.find("other:light:1"), undefined);
  assert.equal(devices.get("test:light:1").available, true);
});

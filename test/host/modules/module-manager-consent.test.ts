import assert from "node:assert/strict";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { manifest } from "../../helpers/stage-modules.ts";
import { until } from "../../helpers/until.ts";
import { FAILS } from "./staged-lamp.ts";
import { openManager, plugin } from "./staged-manager.ts";

test("an update that asks for more runs after consent", async (t) => {
  const { manager, write } = await openManager(t, plugin("lamp"));
  await manager.start();
  const permissions = { hosts: ["b.test"] };
  await write("lamp/package.json", manifest("lamp", { permissions }, "2.0.0"));
  await until(() => manager.get("lamp").consent !== null);
  const { state, version } = manager.get("lamp");

  const added = await manager.allow("lamp", ["connect to b.test"]);
  const { module, reload } = await manager.takeOver("lamp");

  assert.deepEqual([state, version], ["active", "1.0.0"]);
  assert.deepEqual([added, module.version, module.consent], [["connect to b.test"], "2.0.0", null]);
  assert.ok(["reloaded", "unchanged"].includes(reload.result));
});

test("consent applies to what is on disk now", async (t) => {
  const { manager, write } = await openManager(t, plugin("lamp"));
  await manager.start();
  const permissions = { hosts: ["b.test"] };
  await write("lamp/package.json", manifest("lamp", { permissions }, "2.0.0"));

  assert.deepEqual(await manager.allow("lamp"), ["connect to b.test"]);
});

test("an update to another kind of plugin waits for its consent and then replaces the module", async (t) => {
  const { manager, write, removed, served } = await openManager(t, plugin("lamp"));
  await manager.start();
  const update = { widget: "widget.ts", needs: { devices: ["read"] } };
  await write("lamp/package.json", manifest("lamp", update, "2.0.0"));
  await until(() => manager.get("lamp").consent !== null);
  const waiting = [manager.get("lamp").version, ...removed];
  await manager.allow("lamp");

  const { module, reload } = await manager.takeOver("lamp");

  assert.deepEqual(waiting, ["1.0.0"]);
  assert.deepEqual([module.version, module.kinds, module.state], ["2.0.0", ["widget"], "active"]);
  assert.equal(reload.result, "reloaded");
  assert.equal(reload.to, module.generation);
  assert.ok(
    reload.durationMs < 60_000 &&
      reload.durationMs >= 0 &&
      reload.drained === 0 &&
      !reload.stateHandedOver,
  );
  assert.deepEqual([removed, served], [["lamp"], ["lamp: first"]]);
});

test("an update to another kind of plugin that does not start is reported", async (t) => {
  const { manager, write } = await openManager(t, plugin("lamp"));
  await manager.start();
  await write("lamp/widget.ts", "error");
  const update = { widget: "widget.ts", needs: { devices: ["read"] } };
  await write("lamp/package.json", manifest("lamp", update, "2.0.0"));
  await until(() => manager.get("lamp").consent !== null);
  await manager.allow("lamp");

  await assert.rejects(manager.takeOver("lamp"), { code: "reload_failed" });

  assert.equal(manager.get("lamp").state, "failed");
});

test("consent to a bridge that does not start is answered with its error, and the service continues", async (t) => {
  const { manager, write } = await openManager(t, plugin("lamp"));
  await manager.start();
  await write("lamp/index.ts", FAILS);
  const bridge = { kind: "lamp", commandsPerSecond: 1 };
  const update = { bridge, permissions: { hosts: ["b.test"] } };
  await write("lamp/package.json", manifest("lamp", update, "2.0.0"));
  await until(() => manager.get("lamp").consent !== null);
  await manager.allow("lamp");

  const refused = await manager.takeOver("lamp").catch((error: MantelError) => error);

  assert.ok(refused instanceof Error);
  assert.deepEqual([refused.message, refused.extras.rolledBack], ["no start", true]);
  const { state, version, lastReload } = manager.get("lamp");
  assert.deepEqual([state, version, lastReload?.result], ["active", "1.0.0", "rolled_back"]);
});

test("the host's next start runs the version that has its consent", async (t) => {
  const first = await openManager(t, plugin("lamp"));
  await first.manager.start();
  await first.manager.close();
  await Promise.all([first.config.close(), first.consents.close(), first.compiler.close()]);
  const permissions = { hosts: ["b.test"] };
  await first.write("lamp/package.json", manifest("lamp", { permissions }, "2.0.0"));

  const { manager } = await openManager(t, {}, { home: first.home });
  await manager.start();

  const { state, version, consent } = manager.get("lamp");
  assert.deepEqual([state, version, consent?.needed], ["active", "1.0.0", ["connect to b.test"]]);
});
